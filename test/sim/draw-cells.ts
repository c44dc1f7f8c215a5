/** Baselines of cells in worlds that are too small to have them by themselves (baseline-grid.ts). */

import type { BaselineGrid } from '../../packages/tickwire/src/core/replication/baseline-grid.ts'

/** In half of all seeds, cells of two tellings or of four; in half of the latter blocks are told by sheets where that can be (sheet-blocks.ts). */
export function drawCells(grid: BaselineGrid, seed: number): void {
  const cells = (seed >>> 1) & 3
  if (cells > 1) grid.fix((cells === 2 ? 2 : 4) * grid.strideTicks, cells === 3 && (seed & 8) !== 0)
}
