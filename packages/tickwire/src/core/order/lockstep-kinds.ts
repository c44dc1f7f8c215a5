/**
 * The frame kinds of lockstep: orders to the relay, ticks to the client, messages both ways, frames of a mesh. Message
 * lanes have the kind of the channels of other games.
 */
export const LOCKSTEP_KIND = { lanes: 3, orders: 11, ticks: 12, sync: 13, mesh: 14 } as const
