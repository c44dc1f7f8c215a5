/** The frame kinds of lockstep: orders to the relay, ticks to the client, messages both ways, frames of a mesh. */
export const LOCKSTEP_KIND = { orders: 11, ticks: 12, sync: 13, mesh: 14 } as const
