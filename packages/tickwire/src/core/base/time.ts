/**
 * The units that cross Tickwire's borders, branded so that a tick is never passed for a time.
 *
 * Inside a module plain numbers with a unit in their name (`rttMs`, `delayTicks`) are enough.
 */

declare const unit: unique symbol

/** Monotonic milliseconds, fractional, from whatever clock the adapter owns. Core never reads one. */
export type Millis = number & { readonly [unit]?: 'ms' }

/** One fixed step of the simulation, counted from 0 at the start of the match. An exact integer below 2^53. */
export type Tick = number & { readonly [unit]?: 'tick' }

/** A player or spectator in a match, handed out by the authority. 0 is the authority itself. */
export type PeerId = number & { readonly [unit]?: 'peer' }

/** An object in the world, the same number on every peer. 0 is never an object. */
export type ObjectId = number & { readonly [unit]?: 'object' }
