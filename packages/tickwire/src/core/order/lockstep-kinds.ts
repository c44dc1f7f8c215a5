/** The frame kinds of lockstep: orders to the relay, ticks to the client. `game/frame-kinds.ts` has the others. */
export const LOCKSTEP_KIND = { orders: 11, ticks: 12 } as const
