/** Lab 8. The content of a packet, bit by bit. */

import { bool, defineGame, entity, int, vec2, type Game } from 'tickwire'
import { PacketDissector, unsealedProvider, type NamedBits } from 'tickwire/engine'
import { simulate, StubCrypto } from 'tickwire/testing'
import { defineLab, type Lab } from '../lab.ts'
import { figure, screen } from '../lab-parts.ts'
import type { Pen, Role } from '../pen.ts'
import { latency, loss, weatherOf } from '../weather-dials.ts'

const Walker = entity({ at: vec2(0, 320, 0.1).position(), turn: int(-1, 1).server() })
const input = { left: bool, right: bool, up: bool, down: bool }

const crowd = (count: number, isWalking: boolean): Game<typeof input> => defineGame({
  tickRate: 60,
  input,
  entities: [Walker],
  onJoin(world, peer) {
    world.spawn(Walker, { at: { x: 160, y: 90 } }, peer)
    for (let n = 1; n < count; n++) {
      world.spawn(Walker, { at: { x: 20 + (n * 53) % 280, y: 20 + (n * 37) % 140 } })
    }
  },
  step(world, inputs) {
    for (const walker of world.each(Walker)) {
      const { left, right, up, down } = inputs.of(walker.owner)
      if (walker.owner === 0 && isWalking && world.every(30, walker.id)) {
        const { x } = walker.at
        walker.turn = x < 40 ? 1 : x > 280 ? -1 : world.random.int(walker, -1, 1)
      }
      walker.at.x += +right - +left + walker.turn
      walker.at.y += +down - +up
    }
  },
})

export const packet: Lab = defineLab({
  name: 'packet',
  title: 'What a packet contains',
  idea: 'A few dozen bytes each way, many times a second. This is what each bit is for.',
  words: `One packet each way, bit by bit: squares are ones, specks are zeros. The header names the
    connection, the acknowledgements say what arrived, and the tag at the end proves that the packet was
    not changed. Between them are frames: your inputs of the last ticks, and the changes of the world
    since your acknowledged state. If all walkers stand still, there is no snapshot.`,
  guide: 'bandwidth.md',
  hint: 'Walk with the arrow keys; pause to read',
  dials: {
    walkers: { label: 'Walkers', value: 6, min: 1, max: 60, step: 1, unit: '' },
    walking: { label: 'They walk', value: true },
    latency: latency(40), loss: loss(0),
  },

  open({ walkers, walking, ...weather }, hands) {
    const game = crowd(walkers, walking)
    const dissector = new PacketDissector(game)
    const last: [down: Opened, up: Opened] = [NOTHING, NOTHING]
    let [seen, named] = [0, 0]

    const sim = simulate(game, {
      link: weatherOf(weather),
      // Packets are not encrypted here, so that the lab can read them.
      security: { provider: unsealedProvider(new StubCrypto()) },
      onFlight(_, { side, sentAt, bytes, length }) {
        const packet = bytes.slice(0, length)
        if (packet[TYPE_AT] !== PAYLOAD) return
        const { bits } = dissector.dissect(packet.subarray(0, length - SEAL_BYTES))
        seen++
        if (isWhole(bits, length)) named++
        // Only a few packets a second are shown: sixty would be unreadable.
        if (sentAt >= last[side].sentAt + SHOWN_MS) last[side] = { sentAt, bytes: packet, bits }
      },
    })
    sim.script(0, (tick) => hands.keys ?? (walking ? { right: tick % 120 < 60, left: tick % 120 >= 60 } : {}))

    return {
      sims: [sim],
      screens: [
        screen('Server to you', 'server', 'what the server sends', (pen) => drawBits(pen, last[0])),
        screen('The same, by name', 'server', 'bits, name, value', (pen) => drawNames(pen, last[0])),
        screen('You to the server', 'you', 'your inputs', (pen) => drawBits(pen, last[1])),
      ],
      figures: () => [
        figure('You to the server', `${last[1].bytes.length} bytes`, 'you'),
        figure('Server to you', `${last[0].bytes.length} bytes`, 'server'),
        figure('of it: header, heads', `${bitsOf(last[0], 'header', 'frame')} bits`),
        figure('of it: acks', `${bitsOf(last[0], 'acks')} bits`, 'good'),
        figure('of it: timing', `${bitsOf(last[0], 'timing')} bits`, 'other'),
        figure('of it: snapshot', `${bitsOf(last[0], 'snapshot', 'entry', 'row')} bits`, 'server'),
        figure('of it: seal', `${SEAL_BYTES * 8} bits`, 'muted'),
      ],
      claim: () => ({
        text: `Every bit has a name: ${named} of ${seen} packets were read to their last bit.`,
        isHeld: seen < 60 ? undefined : named === seen,
      }),
    }
  },
})

/** A packet as it was sent, and the names of its bits. */
interface Opened {
  readonly sentAt: number
  readonly bytes: Uint8Array
  readonly bits: readonly NamedBits[]
}

const NOTHING: Opened = { sentAt: -Infinity, bytes: new Uint8Array(0), bits: [] }
const [TYPE_AT, PAYLOAD, SEAL_BYTES] = [4, 1, 16]
const SHOWN_MS = 500
/** Keyed by the part of a name before its dot. */
const COLORS: { readonly [part: string]: Role } = {
  header: 'ink', frame: 'ink', acks: 'good', inputs: 'you', timing: 'other',
  snapshot: 'server', entry: 'server', row: 'server',
}
const partOf = ({ name }: NamedBits): string => name.slice(0, name.indexOf('.'))
const colorOf = (bits: NamedBits): Role => COLORS[partOf(bits)] ?? 'muted'

/** Whether the names cover the packet without a gap, up to the tag, and all bits could be read. */
function isWhole(bits: readonly NamedBits[], length: number): boolean {
  let end = 0
  for (const span of bits) {
    if (span.at !== end || span.name === 'row.unread') return false
    end += span.length
  }
  return end === (length - SEAL_BYTES) * 8
}

function bitsOf({ bits }: Opened, ...parts: readonly string[]): number {
  return bits.reduce((sum, span) => parts.includes(partOf(span)) ? sum + span.length : sum, 0)
}

/** A square for a one, a dot for a zero; four bytes per row, or eight in a long packet. */
function drawBits(pen: Pen, { bytes, bits }: Opened): void {
  const columns = bytes.length <= 68 ? 32 : 64
  const pitch = 270 / columns
  const seal = { at: bytes.length * 8 - SEAL_BYTES * 8, length: SEAL_BYTES * 8, color: 'muted' as const }
  for (const { at, length, color } of [...bits.map((span) => ({ ...span, color: colorOf(span) })), seal]) {
    for (let bit = at; bit < at + length; bit++) {
      const isOne = ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7)) & 1) === 1
      const column = bit % columns
      const [x, y] = [16 + column * pitch + (column >> 3) * 5, 9 + Math.floor(bit / columns) * 10]
      pen.square(x, y, isOne ? Math.min(pitch * 0.8, 6) : 1.8, color)
    }
  }
}

/** The names after the acks, as many as fit. */
function drawNames(pen: Pen, { bits }: Opened): void {
  const shown = bits.slice(bits.findLastIndex((span) => partOf(span) === 'acks') + 1).slice(0, 12)
  shown.forEach((span, line) => {
    const y = 15 + line * 14
    pen.text(`${span.length}`, 30, y, 'muted', 'right')
    pen.text(span.name, 40, y, colorOf(span))
    pen.text(span.value, 185, y, 'ink')
  })
}
