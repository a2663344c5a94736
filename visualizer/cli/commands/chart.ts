import { type Command, Option } from 'commander';
import { definition } from '../../chart/graph.ts';
import { statechartMermaid } from '../../chart/mermaid.ts';
import { chartSvg } from '../../chart/svg.ts';
import { ExitCode } from '../exit-codes.ts';
import type { CommonOptions } from '../options.ts';
import type { Output } from '../output.ts';
import type { Finish } from './finish.ts';

type Format = 'mermaid' | 'svg' | 'json';
interface ChartOptions extends CommonOptions {
  readonly format: Format;
  readonly compact?: boolean;
}

const PICTURES: Readonly<Record<Format, (compact: boolean) => string>> = {
  mermaid: () => statechartMermaid(),
  svg: (compact) => chartSvg({ level: compact ? 'top' : 'full' }),
  json: () => JSON.stringify(definition, null, 2),
};

export function addChart(program: Command, finish: Finish): void {
  program
    .command('chart')
    .summary('print the statechart that every operation follows')
    .description(
      'Prints the statechart, drawn from the machine itself: as a Mermaid diagram, as one SVG, or as the JSON definition that Stately Studio imports.',
    )
    .addOption(new Option('--format <format>', 'what to print').choices(Object.keys(PICTURES)).default('mermaid'))
    .option('--compact', 'svg: only the states, without what is inside them')
    .addHelpText(
      'after',
      `
Examples:
  toolop chart
  toolop chart --format svg > statechart.svg
  toolop chart --format json > machine.json`,
    )
    .action(finish<ChartOptions>((options, output) => Promise.resolve(chart(options, output))));
}

function chart({ format, compact }: ChartOptions, output: Output): ExitCode {
  output.print(PICTURES[format](compact === true));
  return ExitCode.completed;
}
