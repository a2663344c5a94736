/** The chart in the page, until it is laid out by the build: the states, in a row. */
import { toolOperation } from '../../machines/index.ts';

export async function drawnChart(): Promise<string> {
  const states = Object.keys(toolOperation.states);
  const boxes = states.map(
    (name, index) =>
      `<g data-state="${name}"><rect x="${10 + (index % 3) * 200}" y="${10 + Math.floor(index / 3) * 50}" width="180" height="36" rx="6"/><text x="${100 + (index % 3) * 200}" y="${33 + Math.floor(index / 3) * 50}" text-anchor="middle">${name}</text></g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 ${20 + Math.ceil(states.length / 3) * 50}" class="chart">${boxes.join('')}</svg>`;
}
