/** The numbers of frame kinds. 11 to 14 are reserved for lockstep and paths; 15 belongs to the connection layer. */
export const FRAME_KIND = {
  channels: 3,
  inputs: 4,
  snapshot: 5,
  wantedRows: 6,
  timing: 7,
  peerInputs: 8,
  /** A snapshot that is encoded with other tables than the handshake's. */
  retrained: 9,
  /** Entropy tables, in pieces. */
  tables: 10,
} as const
