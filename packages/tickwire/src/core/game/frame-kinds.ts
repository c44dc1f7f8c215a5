/** Who rides in packets under which number. 15 belongs to connections themselves. */
export const FRAME_KIND = {
  channels: 3,
  inputs: 4,
  snapshot: 5,
  wantedRows: 6,
  timing: 7,
  peerInputs: 8,
} as const
