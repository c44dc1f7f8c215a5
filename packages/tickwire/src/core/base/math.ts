/**
 * The functions of `Math` whose rounding engines may choose, rounded the same way everywhere.
 *
 * ECMA-262 fixes + - * / % and Math.sqrt, abs, floor, ceil, round, trunc, sign, min, max, fround, imul, clz32 to the
 * last bit; simulation code may use those. The rest (sin, exp, pow, hypot, the `**` operator ...) differ between
 * engines and versions, and one bit is a desync: simulation code imports them from here.
 *
 * Everything here is built from the exact ones alone. Errors, domains and special values: docs/spec/numbers.md.
 */

export { acos, asin, atan, atan2 } from './math-arc.ts'
export { exp, log, log2, pow } from './math-exp.ts'
export { cbrt, hypot } from './math-root.ts'
export { cos, sin, tan } from './math-trig.ts'
