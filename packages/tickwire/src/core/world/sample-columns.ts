/**
 * The loops of sampling, one kind of column each: cells of many objects, one field of each, into lanes and back.
 *
 * Each kind has a loop that only looks (`find*`, to the next cell that is not what its lane stands for) and a function
 * that deals with what was found (`settle*`, true when the lane changed): a loop without stores is the one that
 * compilers are good at. Zero has two signs; a number in steps has only one of them, a float keeps what it has.
 *
 * What a lane is for a value is said by `schema/cells.ts`, the clear twin; sample.test.ts holds the two equal.
 */

interface Column {
  readonly cell: number
  readonly lane: number
}

/** A column whose lane is round((value - min) / step), 0..most. */
export interface StepColumn extends Column {
  readonly min: number
  readonly step: number
  readonly most: number
}

/** A column whose lane is round(radians * scale), round the turn. */
export interface AngleColumn extends Column {
  readonly steps: number
  readonly scale: number
  readonly radians: number
}

/** A column of whole numbers, min..max: what is in the lane is in the cell, once negative ones are what they are. */
export interface WholeColumn extends Column {
  readonly min: number
  readonly max: number
}

/** A column of floats or doubles; lanes are their IEEE bits. */
export interface FloatColumn extends Column {
  readonly isFinite: boolean
}

/** @hot */
export function sampleSteps(
  column: StepColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, first: number, end: number, stamps: Float64Array, stamp: number,
): void {
  for (let slot = first; slot < end; slot++) {
    slot = findStep(column, cellCount, laneCount, cells, rows, slot, end)
    if (slot === end) return
    if (settleStep(column, cells, slot * cellCount + column.cell, rows, slot * laneCount + column.lane)) stamps[slot] = stamp
  }
}

/** @hot */
function findStep(
  column: StepColumn, cellCount: number, laneCount: number, cells: Float64Array, rows: Int32Array, first: number, end: number,
): number {
  const { min, step } = column
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  for (let slot = first; slot < end; slot++) {
    const value = cells[cell]
    if (value !== min + (rows[lane] >>> 0) * step || (value === 0 && 1 / value < 0)) return slot
    cell += cellCount
    lane += laneCount
  }
  return end
}

/** @hot */
function settleStep(column: StepColumn, cells: Float64Array, cell: number, rows: Int32Array, lane: number): boolean {
  const { min, step, most } = column
  const value = cells[cell]
  let steps = Math.round(((value === value ? value : 0) - min) / step)
  steps = steps > 0 ? (steps < most ? steps : most) : 0
  cells[cell] = min + steps * step
  return setLane(rows, lane, steps)
}

/** @hot */
export function sampleAngles(
  column: AngleColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, first: number, end: number, stamps: Float64Array, stamp: number,
): void {
  for (let slot = first; slot < end; slot++) {
    slot = findAngle(column, cellCount, laneCount, cells, rows, slot, end)
    if (slot === end) return
    if (settleAngle(column, cells, slot * cellCount + column.cell, rows, slot * laneCount + column.lane)) stamps[slot] = stamp
  }
}

/** @hot */
function findAngle(
  column: AngleColumn, cellCount: number, laneCount: number, cells: Float64Array, rows: Int32Array, first: number, end: number,
): number {
  const { steps, radians } = column
  const half = steps / 2
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  for (let slot = first; slot < end; slot++) {
    const value = cells[cell]
    const known = rows[lane]
    if (value !== (known >= half ? known - steps : known) * radians || (value === 0 && 1 / value < 0)) return slot
    cell += cellCount
    lane += laneCount
  }
  return end
}

/** @hot */
function settleAngle(column: AngleColumn, cells: Float64Array, cell: number, rows: Int32Array, lane: number): boolean {
  const { steps, scale, radians } = column
  const turned = Math.round(cells[cell] * scale)
  const step = turned - turned === 0 ? turned - Math.floor(turned / steps) * steps : 0
  cells[cell] = (step >= steps / 2 ? step - steps : step) * radians
  return setLane(rows, lane, step)
}

/** @hot */
export function sampleWholes(
  column: WholeColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, first: number, end: number, stamps: Float64Array, stamp: number,
): void {
  for (let slot = first; slot < end; slot++) {
    slot = findWhole(column, cellCount, laneCount, cells, rows, slot, end)
    if (slot === end) return
    if (settleWhole(column, cells, slot * cellCount + column.cell, rows, slot * laneCount + column.lane)) stamps[slot] = stamp
  }
}

/** @hot */
function findWhole(
  column: WholeColumn, cellCount: number, laneCount: number, cells: Float64Array, rows: Int32Array, first: number, end: number,
): number {
  const isSigned = column.min < 0
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  for (let slot = first; slot < end; slot++) {
    const value = cells[cell]
    if (value !== (isSigned ? rows[lane] : rows[lane] >>> 0) || (value === 0 && 1 / value < 0)) return slot
    cell += cellCount
    lane += laneCount
  }
  return end
}

/** @hot */
function settleWhole(column: WholeColumn, cells: Float64Array, cell: number, rows: Int32Array, lane: number): boolean {
  const { min, max } = column
  const value = cells[cell]
  let whole = Math.round(value === value ? value : 0)
  whole = whole > min ? (whole < max ? whole : max) : min
  // Adding zero takes the sign from zero.
  cells[cell] = whole + 0
  return setLane(rows, lane, whole)
}

/** @hot */
function setLane(rows: Int32Array, lane: number, value: number): boolean {
  const before = rows[lane]
  rows[lane] = value
  return rows[lane] !== before
}

const FLOAT_MAX = 3.4028234663852886e38
/** Engines may store any of many patterns for NaN; these are the ones on the wire. */
const FLOAT_NAN = 0x7fc0_0000
const DOUBLE_NAN_HIGH = 0x7ff8_0000

/** `floats` are the same rows read as floats. @hot */
export function sampleFloats(
  column: FloatColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, floats: Float32Array, first: number, end: number, stamps: Float64Array, stamp: number,
): void {
  for (let slot = first; slot < end; slot++) {
    slot = findFloat(column, cellCount, laneCount, cells, floats, slot, end)
    if (slot === end) return
    if (settleFloat(column, cells, slot * cellCount + column.cell, rows, floats, slot * laneCount + column.lane)) stamps[slot] = stamp
  }
}

/** @hot */
function findFloat(
  column: FloatColumn, cellCount: number, laneCount: number, cells: Float64Array, floats: Float32Array, first: number, end: number,
): number {
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  for (let slot = first; slot < end; slot++) {
    const value = cells[cell]
    const known = floats[lane]
    if (value !== known || (value === 0 && 1 / value !== 1 / known)) return slot
    cell += cellCount
    lane += laneCount
  }
  return end
}

/** @hot */
function settleFloat(column: FloatColumn, cells: Float64Array, cell: number, rows: Int32Array, floats: Float32Array, lane: number): boolean {
  const value = cells[cell]
  const before = rows[lane]
  if (value === value) floats[lane] = column.isFinite ? Math.max(-FLOAT_MAX, Math.min(FLOAT_MAX, value)) : value
  else rows[lane] = column.isFinite ? 0 : FLOAT_NAN
  cells[cell] = floats[lane]
  return rows[lane] !== before
}

const bytes = new DataView(new ArrayBuffer(8))

/** @hot */
export function sampleDoubles(
  column: FloatColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, first: number, end: number, stamps: Float64Array, stamp: number,
): void {
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  for (let slot = first; slot < end; slot++) {
    if (settleDouble(column, cells, cell, rows, lane)) stamps[slot] = stamp
    cell += cellCount
    lane += laneCount
  }
}

/** @hot */
function settleDouble(column: FloatColumn, cells: Float64Array, cell: number, rows: Int32Array, lane: number): boolean {
  let value = cells[cell]
  const isNumber = value === value
  if (column.isFinite) value = isNumber ? Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value)) : 0
  cells[cell] = value
  bytes.setFloat64(0, value, true)
  const isPattern = isNumber || column.isFinite
  const isLowNew = setLane(rows, lane, isPattern ? bytes.getInt32(0, true) : 0)
  const isHighNew = setLane(rows, lane + 1, isPattern ? bytes.getInt32(4, true) : DOUBLE_NAN_HIGH)
  return isLowNew || isHighNew
}
