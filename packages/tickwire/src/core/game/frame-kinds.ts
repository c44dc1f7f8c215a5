/** Who rides in packets under which number. 15 belongs to connections themselves. */
export const FRAME_KIND = {
  channels: 3,
  inputs: 4,
  snapshot: 5,
  wantedRows: 6,
  timing: 7,
  peerInputs: 8,
  /** A snapshot by other tables than the handshake's. */
  retrained: 9,
  /** Tables, in pieces. */
  tables: 10,
} as const
