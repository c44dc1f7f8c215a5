/**
 * q32.32 fixed point, complete: the arithmetic, the functions, and the conversions. A namespace for games.
 */

export { add, compare, divide, multiply, negate, q32, subtract, type Q32 } from './fixed-point.ts'
export { format, fromBigInt, fromNumber, parse, toBigInt, toNumber } from './fixed-point-edge.ts'
export { atan2, cos, exp, log, sin, sqrt } from './fixed-point-math.ts'
