/** One more protocol, "Dots": text over UDP into a match of hello. For docs/guide/foreign-protocol.md. */

// #region codec
/** What a client says. */
type Request =
  | { readonly kind: 'hello'; readonly name: string }
  | { readonly kind: 'keys'; readonly token: string; readonly keys: string }

/** Reads a datagram; undefined if it is not of the protocol. It never throws. */
export function readRequest(bytes: Uint8Array, length: number): Request | undefined {
  if (length > 64) return undefined
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('latin1')
  const hello = /^HELLO ([A-Za-z]{1,16}) *$/.exec(text)
  if (hello !== null) return { kind: 'hello', name: hello[1]! }
  const keys = /^KEYS ([0-9a-f]{16}) ([lrud]{0,4})$/.exec(text)
  return keys === null ? undefined : { kind: 'keys', token: keys[1]!, keys: keys[2]! }
}

/** Writes where all players are: `DOTS 1,320,180 2,100,90`. */
export function writeDots(dots: Iterable<{ readonly owner: number; readonly x: number; readonly y: number }>): Buffer {
  const each = [...dots].map(({ owner, x, y }) => `${owner},${Math.round(x)},${Math.round(y)}`)
  return Buffer.from(`DOTS ${each.join(' ')}`, 'latin1')
}
// #endregion

// #region door
import type { Peer } from 'tickwire'
import { monotonicNow, openUdp, systemEntropy, type Serving, type UdpPort } from 'tickwire/node'
import { game, Player } from '../../../games/hello/game.ts'

const [SEATS, GUESTS, SILENCE_MS, REPLY_BYTES] = [4, 100, 10_000, 22]

interface Guest {
  readonly token: string
  peer?: Peer
  keys: string
  seenAt: number
}

/** Takes clients of the Dots protocol into a match. */
export async function openDots({ host }: Serving<(typeof game)['input']>, port: number): Promise<UdpPort> {
  const udp = await openUdp({ port, address: '127.0.0.1' })
  const guests = new Map<string, Guest>()
  const send = (to: string, bytes: Uint8Array): void => udp.send(to, bytes, bytes.length)

  udp.onDatagram = (from, bytes, length) => {
    const request = readRequest(bytes, length)
    const guest = guests.get(from)
    if (request?.kind === 'hello' && length >= REPLY_BYTES) {
      // A stranger gets at most what it sent, and holds no seat: its address may be forged.
      if (guest === undefined && guests.size >= GUESTS) return
      const known = guest ?? { token: drawToken(), keys: '', seenAt: monotonicNow() }
      guests.set(from, known)
      send(from, Buffer.from(`TOKEN ${known.token}`, 'latin1'))
    } else if (request?.kind === 'keys' && guest?.token === request.token) {
      // The token shows that the client receives at this address. Now it becomes a player.
      guest.keys = request.keys
      guest.seenAt = monotonicNow()
      const seats = [...guests.values()].filter(({ peer }) => peer !== undefined).length
      if (seats < SEATS) guest.peer ??= host.addBot(() => heldOf(guest.keys))
    }
  }

  const timer = setInterval(() => {
    const dots = writeDots(host.world.each(Player))
    for (const [address, guest] of guests) {
      if (guest.peer !== undefined) send(address, dots)
      if (monotonicNow() - guest.seenAt < SILENCE_MS) continue
      guests.delete(address)
      if (guest.peer !== undefined) host.kick(guest.peer)
    }
  }, 100)
  void udp.closed.then(() => clearInterval(timer))
  return udp
}

function drawToken(): string {
  const bytes = new Uint8Array(8)
  systemEntropy.fill(bytes)
  return Buffer.from(bytes).toString('hex')
}

const heldOf = (keys: string): { left: boolean; right: boolean; up: boolean; down: boolean } => (
  { left: keys.includes('l'), right: keys.includes('r'), up: keys.includes('u'), down: keys.includes('d') }
)
// #endregion
