/**
 * The loops of sampling, one per kind of column: one field of many objects, from cells into lanes and back.
 *
 * A cell that equals the value of its lane costs a multiplication and a comparison. Any other cell is rounded in place.
 * V8 looks up the base of each array in every iteration, and again after a call. So the most common loop handles four
 * objects per iteration, and no loop calls a function. Zero has two signs: a quantised number has only one of them, a
 * float keeps its own.
 *
 * Fast and ugly: if four of ten cells move, 35 us for 1,000 objects, and 60 with a call for each cell that moved; 20
 * instead of 27 if none moves.
 *
 * `schema/cells.ts`, the clear twin, defines the lane of a value; sample.test.ts checks that the two agree.
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

/** A column whose lane is round(radians * scale), modulo one turn. */
export interface AngleColumn extends Column {
  readonly steps: number
  readonly scale: number
  readonly radians: number
}

/** A column of integers, min..max. The lane holds the number itself, signed if min is negative. */
export interface WholeColumn extends Column {
  readonly min: number
  readonly max: number
}

/** A column of floats or doubles; lanes are their IEEE bits. */
export interface FloatColumn extends Column {
  readonly isFinite: boolean
}

/** Objects that are checked together. */
const LOOK = 4
/**
 * The largest double below 0.5. For x >= 0, floor(x + HALF) is round(x). With 0.5 instead, the result for x = HALF
 * would be wrong.
 */
const HALF = 0.49999999999999994

/** @hot */
export function sampleSteps(
  column: StepColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, first: number, end: number, stamps: Float64Array, stamp: number,
): void {
  const { min, step, most } = column
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  let slot = first
  while (slot < end) {
    const until = slot + LOOK < end ? slot + LOOK : end
    if (until - slot === LOOK) {
      const one = cells[cell]
      const two = cells[cell + cellCount]
      const three = cells[cell + 2 * cellCount]
      const four = cells[cell + 3 * cellCount]
      if (
        one === min + (rows[lane] >>> 0) * step
        && two === min + (rows[lane + laneCount] >>> 0) * step
        && three === min + (rows[lane + 2 * laneCount] >>> 0) * step
        && four === min + (rows[lane + 3 * laneCount] >>> 0) * step
        && !Object.is(one, -0)
        && !Object.is(two, -0)
        && !Object.is(three, -0)
        && !Object.is(four, -0)
      ) {
        slot = until
        cell += LOOK * cellCount
        lane += LOOK * laneCount
        continue
      }
    }
    for (; slot < until; slot++) {
      const value = cells[cell]
      const steps = ((value === value ? value : 0) - min) / step
      const found = steps > 0 ? (steps < most ? Math.floor(steps + HALF) : most) : 0
      cells[cell] = min + found * step
      if ((found | 0) !== rows[lane]) {
        rows[lane] = found
        stamps[slot] = stamp
      }
      cell += cellCount
      lane += laneCount
    }
  }
}

/** @hot */
export function sampleAngles(
  column: AngleColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, first: number, end: number, stamps: Float64Array, stamp: number,
): void {
  const { steps, scale, radians } = column
  const half = steps / 2
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  for (let slot = first; slot < end; slot++) {
    const value = cells[cell]
    const known = rows[lane]
    if (value !== (known >= half ? known - steps : known) * radians || (value === 0 && Object.is(value, -0))) {
      const turned = Math.round(value * scale)
      const found = turned - turned === 0 ? turned - Math.floor(turned / steps) * steps : 0
      cells[cell] = (found >= half ? found - steps : found) * radians
      const word = found | 0
      if (word !== known) {
        rows[lane] = word
        stamps[slot] = stamp
      }
    }
    cell += cellCount
    lane += laneCount
  }
}

/** @hot */
export function sampleWholes(
  column: WholeColumn, cellCount: number, laneCount: number,
  cells: Float64Array, rows: Int32Array, first: number, end: number, stamps: Float64Array, stamp: number,
): void {
  const { min, max } = column
  const isSigned = min < 0
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  for (let slot = first; slot < end; slot++) {
    const value = cells[cell]
    const known = rows[lane]
    if (value !== (isSigned ? known : known >>> 0) || (value === 0 && Object.is(value, -0))) {
      let whole = Math.round(value === value ? value : 0)
      whole = whole > min ? (whole < max ? whole : max) : min
      // Adding zero turns -0 into 0.
      cells[cell] = whole + 0
      const found = whole | 0
      if (found !== known) {
        rows[lane] = found
        stamps[slot] = stamp
      }
    }
    cell += cellCount
    lane += laneCount
  }
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

/** `floats` is the same memory as `rows`, read as floats. @hot */
export function sampleFloats(
  column: FloatColumn,
  cellCount: number,
  laneCount: number,
  cells: Float64Array,
  rows: Int32Array,
  floats: Float32Array,
  first: number,
  end: number,
  stamps: Float64Array,
  stamp: number,
): void {
  const { isFinite } = column
  let cell = first * cellCount + column.cell
  let lane = first * laneCount + column.lane
  for (let slot = first; slot < end; slot++) {
    const value = cells[cell]
    const known = floats[lane]
    if (value !== known || (value === 0 && Object.is(value, -0) !== Object.is(known, -0))) {
      const before = rows[lane]
      if (value === value) floats[lane] = isFinite ? Math.max(-FLOAT_MAX, Math.min(FLOAT_MAX, value)) : value
      else rows[lane] = isFinite ? 0 : FLOAT_NAN
      cells[cell] = floats[lane]
      if (rows[lane] !== before) stamps[slot] = stamp
    }
    cell += cellCount
    lane += laneCount
  }
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
