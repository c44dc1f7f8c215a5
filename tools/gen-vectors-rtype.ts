/**
 * Makes test/vectors/rtype.json: bytes and meaning of every R-Type packet, and bytes that a reader must refuse.
 *
 * `node --conditions=tickwire-source --import tsx tools/gen-vectors-rtype.ts` writes the file. A test compares the file
 * with this list, and an independent checker reads it from the protocol's declarations.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { RtypePacket } from '../packages/tickwire/src/core/rtype/packet-table.ts'
import type { RtypeMeaning } from '../test/reference/rtype-checker.ts'
import { engineReadsRtype, engineWritesRtype } from '../test/reference/rtype-engine.ts'
import { RTYPE_SAMPLES, transform } from '../test/reference/rtype-samples.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
/** A packet whose list is as long as it can be, by the number of its entries. */
function longest(type: 'TRANSFORM_SNAPSHOT' | 'HEALTH_SNAPSHOT', count: number): RtypePacket {
  const ids = Array.from({ length: count }, (_, index) => index + 1)
  if (type === 'TRANSFORM_SNAPSHOT') {
    return { type, worldTick: 1, entities: ids.map((entityId) => ({ entityId, value: transform(entityId) })) }
  }
  const value = { currentHealth: 1, maxHealth: 2, currentShield: 3, maxShield: 4 }
  return { type, worldTick: 1, entities: ids.map((entityId) => ({ entityId, value })) }
}

interface RtypeVectors {
  readonly about: string
  readonly packets: readonly { readonly name: string; readonly bytes: string; readonly meaning: RtypeMeaning }[]
  readonly refused: readonly { readonly name: string; readonly bytes: string }[]
}

const ABOUT =
  'R-Type packets: bytes and meaning, in the words of the protocol. docs/wire/RTYPE.md says how to read them.'

/** The whole file. */
export function makeRtypeVectors(): RtypeVectors {
  const samples = [...RTYPE_SAMPLES, longest('TRANSFORM_SNAPSHOT', 98), longest('HEALTH_SNAPSHOT', 147)]
  const packets = samples.map((packet, index) => {
    const flags = index % 5 === 4 ? 0x10 : 0
    const bytes = engineWritesRtype(packet, 0xffff_fff0 + index, index * 1000, { flags })
    return { name: `${index + 1} ${packet.type}`, bytes: hex(bytes), meaning: engineReadsRtype(bytes)! }
  })
  return { about: ABOUT, packets, refused: refusals() }
}

function refusals(): { name: string; bytes: string }[] {
  const whole = (type: RtypePacket['type']): Uint8Array =>
    engineWritesRtype(RTYPE_SAMPLES.find((each) => each.type === type)!, 5, 6)
  const changed = (type: RtypePacket['type'], at: number, value: number): string => {
    const bytes = whole(type)
    bytes[at] = value
    return hex(bytes)
  }
  const cases: readonly [string, string][] = [
    ['no bytes', ''],
    ['a header that is cut short', '52540500000000050000'],
    ['another magic', changed('HEARTBEAT', 1, 0x53)],
    ['type 0', changed('HEARTBEAT', 2, 0x00)],
    ['type 0x80', changed('HEARTBEAT', 2, 0x80)],
    ['unassigned type 0x20', changed('HEARTBEAT', 2, 0x20)],
    ['unassigned type 0x23', changed('HEARTBEAT', 2, 0x23)],
    ['unassigned type 0x2f', changed('HEARTBEAT', 2, 0x2f)],
    ['compressed without a coder', changed('HEARTBEAT', 3, 0x02)],
    ['encrypted without a key', changed('HEARTBEAT', 3, 0x04)],
    ['fragmented without leave', changed('HEARTBEAT', 3, 0x08)],
    ['a disconnect that is not reliable', changed('CLIENT_DISCONNECT', 3, 0x00)],
    ['an entity type that does not exist', changed('ENTITY_SPAWN', 16, 9)],
    ['a flag that is 2', changed('ENTITY_SPAWN', 27, 2)],
    ['five players', changed('GAME_START', 16, 5)],
    ['a winner that is no index', changed('GAME_END', 29, 4)],
    ['a charge of 101', changed('FORCE_STATE', 22, 101)],
    ['power level 0', changed('FORCE_STATE', 21, 0)],
    ['power level 6 in a snapshot', changed('WEAPON_SNAPSHOT', 26, 6)],
    ['an attachment point that does not exist', changed('FORCE_STATE', 20, 4)],
    ['a level name that is not UTF-8', changed('LEVEL_START', 13, 0xff)],
    ['more entities than bytes', changed('TRANSFORM_SNAPSHOT', 17, 3)],
    ['fewer entities than bytes', changed('TRANSFORM_SNAPSHOT', 17, 1)],
    ['a component with another size', changed('ENTITY_FULL_STATE', 19, 7)],
    ['more components than bytes', changed('ENTITY_FULL_STATE', 17, 15)],
    ['a payload of 1,189 bytes', `${hex(whole('COMPONENT_ADD'))}${'00'.repeat(1201 - 22)}`],
  ]
  return cases.map(([name, bytes]) => ({ name, bytes }))
}

/** The file's text: one vector a line. */
export function rtypeVectorsText({ about, packets, refused }: RtypeVectors): string {
  const lines = (list: readonly unknown[]): string => list.map((each) => `    ${JSON.stringify(each)}`).join(',\n')
  const head = `{\n  "about": ${JSON.stringify(about)},\n`
  return `${head}  "packets": [\n${lines(packets)}\n  ],\n  "refused": [\n${lines(refused)}\n  ]\n}\n`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const path = fileURLToPath(new URL('../test/vectors/rtype.json', import.meta.url))
  writeFileSync(path, rtypeVectorsText(makeRtypeVectors()))
}
