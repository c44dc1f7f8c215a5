/** Lab 8. What is in a packet, to the bit. */

import { bool, defineGame, entity, int, unsealedProvider, vec2, type Game } from 'tickwire'
import { simulate, StubCrypto } from 'tickwire/testing'
import { defineLab, type Figure, type Lab } from '../lab.ts'
import { packetParts, type Part, type PartName } from '../packet-parts.ts'
import type { Pen, Role } from '../pen.ts'
import { latency, loss, weatherOf } from '../weather-dials.ts'

const Walker = entity({ at: vec2(0, 320, 0.1).position(), turn: int(-1, 1).server() }, { name: 'Walker' })
const input = { left: bool, right: bool, up: bool, down: bool }

const crowd = (count: number, isWalking: boolean): Game<typeof input> => defineGame({
  tickRate: 60,
  input,
  entities: [Walker],
  onJoin(world, peer) {
    world.spawn(Walker, { at: { x: 160, y: 90 } }, peer)
    for (let n = 1; n < count; n++) world.spawn(Walker, { at: { x: 20 + (n * 53) % 280, y: 20 + (n * 37) % 140 } })
  },
  step(world, inputs) {
    for (const walker of world.each(Walker)) {
      const { left, right, up, down } = inputs.of(walker.owner)
      if (walker.owner === 0 && isWalking && world.every(30, walker.id)) walker.turn = world.random.int(walker, -1, 1)
      walker.at.x += +right - +left + walker.turn
      walker.at.y += +down - +up
    }
  },
})

const COLORS: { readonly [name in PartName]: Role } = {
  header: 'ink', acks: 'good', head: 'ink', inputs: 'you', snapshot: 'server', timing: 'other', messages: 'bad', other: 'bad', padding: 'faint', seal: 'muted',
}

/** A packet as it was sent, and its parts. */
interface Opened {
  readonly bytes: Uint8Array
  readonly parts: readonly Part[]
}

export const packet: Lab = defineLab({
  name: 'packet',
  title: 'What a packet contains',
  idea: 'Sixty times a second a few dozen bytes each way. This is what each bit of them is for.',
  words: `The last packet each way, bit by bit: filled squares are ones. The header says whose it is, the acks what arrived, and
    the seal that nobody touched it. In between ride frames: your keys of the last ticks, and of the world what has changed since
    what you are known to hold. Let everybody stand still, and the snapshot is gone.`,
  guide: 'bandwidth.md',
  hint: 'Walk with the arrow keys; pause to read',
  dials: {
    walkers: { label: 'Walkers', value: 8, min: 1, max: 60, step: 1, unit: '' },
    walking: { label: 'They walk', value: true },
    latency: latency(40), loss: loss(0),
  },

  open(settings, hands) {
    // The seal is left empty here, or not even we could look inside.
    const security = { provider: unsealedProvider(new StubCrypto()) }
    const sim = simulate(crowd(settings.walkers, settings.walking), { link: weatherOf(settings), security })
    sim.script(0, (tick) => hands.keys ?? { right: settings.walking && tick % 120 < 60, left: settings.walking && tick % 120 >= 60 })

    const last: [down: Opened | undefined, up: Opened | undefined] = [undefined, undefined]
    let [seen, named] = [0, 0]
    sim.players[0]!.link.onFlight = ({ side, bytes, length }) => {
      const copy = bytes.slice(0, length)
      const parts = packetParts(copy)
      if (copy[4] === 1) seen++
      if (parts === undefined) return
      named++
      last[side] = { bytes: copy, parts }
    }

    const sum = (opened: Opened | undefined, ...names: readonly PartName[]): number =>
      (opened?.parts ?? []).reduce((bits, { name, from, to }) => names.includes(name) ? bits + to - from : bits, 0)
    const part = (title: string, role: Role, ...names: readonly PartName[]): Figure => ({ name: `${title}, bits`, value: `${sum(last[0], ...names)}`, role })
    return {
      sims: [sim],
      screens: [
        { title: 'Server to you', role: 'server', note: 'what the server tells', draw: (pen) => drawBits(pen, last[0]) },
        { title: 'You to the server', role: 'you', note: 'what you hold', draw: (pen) => drawBits(pen, last[1]) },
        { title: 'Your screen', role: 'you', draw(pen) {
          for (const { at, owner } of sim.client(0, Walker)) pen.square(at.x, at.y, 12, owner === 0 ? 'server' : 'you')
        } },
      ],
      figures: () => [
        { name: 'Server to you, bytes', value: `${last[0]?.bytes.length ?? 0}`, role: 'server' },
        part('Header', 'ink', 'header'), part('Acks', 'good', 'acks'), part('Heads of frames', 'ink', 'head'),
        part('Timing', 'other', 'timing'), part('Snapshot', 'server', 'snapshot'), part('Seal', 'muted', 'seal', 'padding'),
        { name: 'You to the server, bytes', value: `${last[1]?.bytes.length ?? 0}`, role: 'you' },
      ],
      claim: () => ({
        text: `Every bit has a name: ${named} of ${seen} packets were read to their last bit.`,
        isHeld: seen < 60 ? undefined : named === seen,
      }),
    }
  },
})

/** Sixty-four bits a row, a little apart by bytes. */
function drawBits(pen: Pen, opened: Opened | undefined): void {
  for (const { name, from, to } of opened?.parts ?? []) {
    for (let bit = from; bit < to; bit++) {
      const isOne = ((opened?.bytes[bit >> 3] ?? 0) >> (7 - (bit & 7)) & 1) === 1
      const [column, row] = [bit % 64, Math.floor(bit / 64)]
      pen.square(14 + column * 4.4 + (column >> 3) * 2, 10 + row * 8, 3.4, COLORS[name], isOne ? 'solid' : 'ghost')
    }
  }
}
