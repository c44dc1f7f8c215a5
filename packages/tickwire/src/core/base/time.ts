/**
 * The units of Tickwire's public interfaces, branded so that a tick is never passed as a time.
 *
 * Inside a module plain numbers with a unit in their name (`rttMs`, `delayTicks`) are enough.
 */

declare const unit: unique symbol

/** Monotonic milliseconds, fractional, from a clock of the adapter. Core never reads a clock. */
export type Millis = number & { readonly [unit]?: 'ms' }

/** One fixed step of the simulation, counted from 0 at the start of the match. An exact integer below 2^53. */
export type Tick = number & { readonly [unit]?: 'tick' }

/** A player or spectator in a match, assigned by the authority. 0 is the authority itself. */
export type PeerId = number & { readonly [unit]?: 'peer' }

/** An object in the world, the same number on every peer. 0 is never an object. */
export type ObjectId = number & { readonly [unit]?: 'object' }
