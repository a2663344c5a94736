import type { ComponentChildren } from 'preact';
import type { TransitionView } from '../../../receiver/view.ts';

interface TransitionProps {
  readonly transition: TransitionView;
  readonly children?: ComponentChildren;
}

/** `GO → there [guard] / action`. */
export function Transition({ transition: { on, targets, guard, actions }, children }: TransitionProps) {
  return (
    <li>
      <code>
        <bdi>{on}</bdi>
      </code>
      {targets.length === 0 ? null : (
        <>
          {' '}
          <span aria-hidden="true">→</span>
          <span class="hidden">to</span> <bdi>{targets.join(', ')}</bdi>
        </>
      )}
      {guard === null ? null : (
        <span class="weight-of">
          {' '}
          if <bdi>{guard}</bdi>
        </span>
      )}
      {actions.length === 0 ? null : (
        <span class="weight-of">
          {' '}
          / <bdi>{actions.join(', ')}</bdi>
        </span>
      )}
      {children}
    </li>
  );
}
