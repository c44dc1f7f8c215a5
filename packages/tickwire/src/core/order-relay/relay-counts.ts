/** The counters of a relay since its start. */
export interface RelayCounts {
  /** Orders that were placed in a tick. */
  placed: number
  /** Of those, orders that came late and went into a later tick. */
  slipped: number
  /** Orders that were dropped because they came late. */
  late: number
  /** Orders that a filter dropped. */
  filtered: number
  /** Orders that were dropped because no room was left. */
  full: number
  /** Orders whose claimed time was outside of the envelope. */
  clamped: number
}
