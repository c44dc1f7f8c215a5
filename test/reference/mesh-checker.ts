/** Reads frames of a mesh as docs/wire/LOCKSTEP.md says, and throws if invalid. Imports nothing of src. */

export interface MeshFrameMeaning {
  readonly position: number
  readonly need: number
  readonly executed: number
  readonly pulse: number
  readonly peers: readonly MeshPeerMeaning[]
  readonly runs: readonly { owner: number; last: number; offset: number; bytes: string }[]
}

export interface MeshPeerMeaning {
  readonly player: number
  readonly hears: boolean
  readonly held: number
  readonly removed?: { readonly reason: number; readonly newest: number }
}

const PLAYERS_MAX = 3
const REASON_MAX = 7

export function readMeshFrame(input: Uint8Array): MeshFrameMeaning {
  let at = 0
  const byte = (): number => {
    const value = input[at++]
    if (value === undefined) throw new Error('cut')
    return value
  }
  const varint = (): number => {
    let value = 0n
    for (let group = 0n; group < 8n; group++) {
      const next = byte()
      value |= BigInt(next & 127) << (7n * group)
      if (next >= 128) continue
      if ((next === 0 && group > 0n) || value >= 2n ** 53n) throw new Error('no varint')
      return Number(value)
    }
    throw new Error('long varint')
  }
  const below = (limit: number, what: string): number => {
    const value = byte()
    if (value >= limit) throw new Error(what)
    return value
  }
  if (byte() !== 0) throw new Error('flags')
  const [position, need, executed] = [varint(), varint(), varint()]
  const pulse = byte() * 256 + byte()
  let before = 0
  const peers = Array.from({ length: below(PLAYERS_MAX, 'too many peers') }, (): MeshPeerMeaning => {
    const player = below(PLAYERS_MAX + 1, 'no such player')
    if (player <= before) throw new Error('players do not ascend')
    before = player
    const state = below(4, 'state')
    const held = varint()
    const known = { player, hears: state % 2 === 1, held }
    return state < 2 ? known : { ...known, removed: { reason: below(REASON_MAX + 1, 'reason'), newest: varint() } }
  })
  const runs = Array.from({ length: below(PLAYERS_MAX + 1, 'too many runs') }, () => {
    const owner = below(PLAYERS_MAX + 1, 'no such owner')
    const [last, offset, length] = [varint(), varint(), varint()]
    if (owner === 0 || length === 0 || length > 400) throw new Error('run')
    const bytes = Array.from({ length }, () => byte().toString(16).padStart(2, '0')).join('')
    return { owner, last, offset, bytes }
  })
  if (at !== input.length) throw new Error('more')
  return { position, need, executed, pulse, peers, runs }
}
