/**
 * A test may have two forms. `npm test` plays the short form; `npm run prove -- tests` plays the long form, with more
 * seeds and longer matches. Both forms assert the same.
 */

/** True in the long form. */
export const IS_LONG: boolean = process.env['TICKWIRE_PROVE'] === '1'

/** The first value in the short form, the second in the long form. */
export function form<T>(short: T, long: T): T {
  return IS_LONG ? long : short
}
