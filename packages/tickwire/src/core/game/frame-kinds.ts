/** Who rides in packets under which number. 0-3 are the channels of the wire standard, from 4 on it is the game. */
export const FRAME_KIND = {
  reliableOrdered: 3,
  inputs: 4,
  snapshot: 5,
} as const
