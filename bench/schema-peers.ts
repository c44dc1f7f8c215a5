/**
 * The crowd in other packers, each used as its documentation says and in its best form: quantised whole numbers
 * (smaller and faster for all of them than floats), schemas where it has schemas, and its own buffers.
 *
 * Objects are made before the clock starts, except for @colyseus/schema: it detects changes when a field is written, so
 * writing is part of packing.
 */

import { Decoder, Encoder, schema, t } from '@colyseus/schema'
import avro from 'avsc'
import { Packr } from 'msgpackr'
import protobuf from 'protobufjs'
import { FIELDS, type Frame } from './scenario.ts'

/** One way to send a crowd. Ticks are packed in order; `unpack` gets the bytes of the same tick. */
export interface Packer {
  readonly name: string
  pack(tick: number): Uint8Array
  unpack(bytes: Uint8Array, tick: number): void
  /** The last unpacked value of a field of a player. */
  held(player: number, field: number): number
}

type Player = { [Name in (typeof FIELDS)[number]]: number }
type State = { tick: number; players: Player[] }

/** All packers, with the same frames. */
export function makePeers(frames: readonly Frame[], players: number): Packer[] {
  const states = frames.map((frame, tick): State => ({
    tick, players: Array.from({ length: players }, (_, player) => playerAt(frame, player)),
  }))
  return [msgpackrPeer(states), protobufPeer(states), avscPeer(states), colyseusPeer(frames, players)]
}

function playerAt(frame: Frame, player: number): Player {
  const at = player * FIELDS.length
  return Object.fromEntries(FIELDS.map((name, field) => [name, frame[at + field]!])) as Player
}

function holder(): { state: State; held(player: number, field: number): number } {
  return {
    state: { tick: 0, players: [] },
    held(player, field) { return this.state.players[player]![FIELDS[field]!] },
  }
}

/** With shared structures, as its documentation recommends for records of one shape. */
function msgpackrPeer(states: readonly State[]): Packer {
  const packer = new Packr({ structures: [] })
  const unpacker = new Packr({ structures: (packer as unknown as { structures: [] }).structures })
  const kept = holder()
  return {
    name: 'msgpackr',
    pack: (tick) => packer.pack(states[tick]),
    unpack(bytes) { kept.state = unpacker.unpack(bytes) as State },
    held: (player, field) => kept.held(player, field),
  }
}

function protobufPeer(states: readonly State[]): Packer {
  const { root } = protobuf.parse(`syntax = "proto3";
    message Player {
      sint32 x = 1; sint32 y = 2; uint32 z = 3; sint32 vx = 4; sint32 vy = 5; sint32 vz = 6;
      uint32 yaw = 7; uint32 pitch = 8; uint32 health = 9; uint32 flags = 10;
    }
    message State { uint32 tick = 1; repeated Player players = 2; }`)
  const type = root.lookupType('State')
  const kept = holder()
  return {
    name: 'protobufjs',
    pack: (tick) => type.encode(states[tick]!).finish(),
    unpack(bytes) { kept.state = type.decode(bytes) as unknown as State },
    held: (player, field) => kept.held(player, field),
  }
}

function avscPeer(states: readonly State[]): Packer {
  const type = avro.Type.forSchema({
    type: 'record', name: 'State', fields: [
      { name: 'tick', type: 'int' },
      {
        name: 'players',
        type: {
          type: 'array',
          items: { type: 'record', name: 'Player', fields: FIELDS.map((name) => ({ name, type: 'int' })) },
        },
      },
    ],
  } as never)
  const kept = holder()
  return {
    name: 'avsc',
    pack: (tick) => type.toBuffer(states[tick]),
    unpack(bytes) { kept.state = type.fromBuffer(bytes as Buffer) as State },
    held: (player, field) => kept.held(player, field),
  }
}

/** A map of players, with patches: only fields that were written since the last encode are sent. */
function colyseusPeer(frames: readonly Frame[], players: number): Packer {
  Encoder.BUFFER_SIZE = 1 << 19
  const Walker = schema(
    {
      x: t.int32(),
      y: t.int32(),
      z: t.int16(),
      vx: t.int16(),
      vy: t.int16(),
      vz: t.int16(),
      yaw: t.uint16(),
      pitch: t.uint16(),
      health: t.uint8(),
      flags: t.uint8(),
    },
    'Walker',
  )
  const Room = schema({ players: t.map(Walker) }, 'Room')
  const state = new Room()
  const encoder = new Encoder(state as never)
  const walkers = Array.from({ length: players }, (_, index) => {
    const walker = Object.assign(new Walker(), playerAt(frames[0]!, index)) as unknown as Player
    ;(state as unknown as { players: Map<string, unknown> }).players.set(String(index), walker)
    return walker
  })
  const mirror = new Room()
  const decoder = new Decoder(mirror as never)
  decoder.decode(encoder.encodeAll().slice())
  encoder.discardChanges()
  return {
    name: '@colyseus/schema',
    pack(tick) {
      const frame = frames[tick]!
      for (let player = 0; player < players; player++) {
        const walker = walkers[player]!
        for (let field = 0, at = player * FIELDS.length; field < FIELDS.length; field++, at++)
          walker[FIELDS[field]!] = frame[at]!
      }
      const bytes = encoder.encode().slice()
      encoder.discardChanges()
      return bytes
    },
    unpack(bytes) {
      decoder.decode(bytes)
    },
    held: (player, field) =>
      (mirror as unknown as { players: Map<string, Player> }).players.get(String(player))![FIELDS[field]!],
  }
}
