/**
 * The types of quiche's binding, as far as it is used here. The package has types of its own, but need not be
 * installed.
 */

export interface HostPort {
  readonly host: string
  readonly port: number
}

export interface QuicheHeader {
  readonly ty: number
  readonly version: number
  readonly dcid: Uint8Array
  readonly scid: Uint8Array
  readonly token?: Uint8Array
}

export interface QuicheConfig {
  setApplicationProtos(names: string[]): void
  setMaxIdleTimeout(ms: number): void
  setMaxRecvUdpPayloadSize(bytes: number): void
  setMaxSendUdpPayloadSize(bytes: number): void
  setInitialMaxData(bytes: number): void
  setMaxConnectionWindow(bytes: number): void
  setMaxStreamWindow(bytes: number): void
  setInitialMaxStreamDataBidiLocal(bytes: number): void
  setInitialMaxStreamDataBidiRemote(bytes: number): void
  setInitialMaxStreamDataUni(bytes: number): void
  setInitialMaxStreamsBidi(count: number): void
  setInitialMaxStreamsUni(count: number): void
  enableDgram(isEnabled: boolean, recvQueue: number, sendQueue: number): void
  setDisableActiveMigration(isDisabled: boolean): void
  setActiveConnectionIdLimit(count: number): void
  grease(isOn: boolean): void
  verifyPeer(isOn: boolean): void
}

export interface QuicheQuic {
  recv(bytes: Uint8Array, path: { readonly from: HostPort; readonly to: HostPort }): number
  send(out: Uint8Array): [number, { readonly to: HostPort }] | null
  streamRecv(id: number, out: Uint8Array): [number, boolean] | null
  streamSend(id: number, bytes: Uint8Array, isLast: boolean): number | null
  readable(): Iterable<number>
  dgramRecv(out: Uint8Array): number | null
  dgramSend(bytes: Uint8Array): void
  dgramMaxWritableLen(): number | null
  isDgramSendQueueFull(): boolean
  timeout(): number | null
  onTimeout(): void
  close(isApplication: boolean, code: number, reason: Uint8Array): void
  isEstablished(): boolean
  isDraining(): boolean
  isClosed(): boolean
  newSourceCid(name: Uint8Array, resetToken: bigint, isRetiring: boolean): number
  sourceCidsLeft(): number
}

export interface Quiche {
  readonly MIN_CLIENT_INITIAL_LEN: number
  readonly Type: { readonly Initial: number; readonly VersionNegotiation: number; readonly Short: number }
  negotiateVersion(scid: Uint8Array, dcid: Uint8Array, out: Uint8Array): number
  retry(
    scid: Uint8Array, dcid: Uint8Array, name: Uint8Array, token: Uint8Array, version: number, out: Uint8Array): number
  versionIsSupported(version: number): boolean
  readonly Config: {
    withBoringSslCtx(
      isVerifying: boolean,
      isFailureAllowed: boolean,
      authorities: null,
      keys: Uint8Array[] | null,
      certificates: Uint8Array[] | null,
      algorithms: null,
    ): QuicheConfig
  }
  readonly Connection: {
    accept(
      name: Uint8Array,
      original: Uint8Array | null,
      local: HostPort,
      peer: HostPort,
      config: QuicheConfig,
    ): QuicheQuic
    connect(server: string | null, name: Uint8Array, local: HostPort, peer: HostPort, config: QuicheConfig): QuicheQuic
  }
  readonly Header: { fromSlice(bytes: Uint8Array, nameLength: number): QuicheHeader }
}

/**
 * Length of the connection ids that we issue. They are in every packet to the server: with the maximum of 20 bytes,
 * Chromium's packets have room for a datagram of 1199 bytes, one less than the engine needs.
 */
export const CID_BYTES = 8
