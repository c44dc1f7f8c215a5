/**
 * Skirmish through a group of two dedicated relays (`tickwire lockstep`), with players in two processes. When a relay
 * is killed its matches go on at the other one; when players are killed the other players go on.
 */

import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeCard, type LockstepGame } from 'tickwire/lockstep'
import { bestProvider } from 'tickwire/node'
import { keyToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { skirmishGame } from '../../games/skirmish/game.ts'
import { freePort } from '../contract/relay-group.ts'
import { soakPrograms, type ProgramReport } from './program-soak.ts'
import { SoakStage } from './soak-stage.ts'

export interface CrowdOptions {
  readonly minutes: number
  readonly players: number
  readonly stayMs: number
  readonly seed: number
  /** How long a killed process stays down. */
  readonly downMs?: number
  onProgress?(line: string): void
}

/** A handover takes at most this long (docs/spec/handover.md). */
const BACK_MS_MAX = 6000
const DOWN_MS = 8000

export async function soakSkirmish(options: CrowdOptions): Promise<ProgramReport> {
  const { players, stayMs, seed, downMs = DOWN_MS } = options
  const stage = await SoakStage.open('test/soak/skirmish-crowd-process.ts')
  try {
    const card = join(stage.folder, 'skirmish.card.json')
    writeFileSync(card, encodeCard(skirmishGame() as unknown as LockstepGame))
    const ports = [await freePort(), await freePort()]
    const relays = ports.map((port, number) => {
      const identity = new Uint8Array(32).fill(40 + number)
      const file = join(stage.folder, `relay-${number}.key`)
      writeFileSync(file, keyToText('server-secret', identity))
      return { port, file, key: keyToText('server-public', bestProvider().importSigning(identity).publicKey) }
    })
    const list = relays.map(({ port, key }) => `http://127.0.0.1:${port}#${key}`).join(',')
    const start = (number: number) => async (): Promise<ChildProcess> => {
      const { port, file } = relays[number]!
      return await stage.start([
        'lockstep', '--port', String(port), '--address', '127.0.0.1', '--ops', '0', '--card', card, '--identity', file,
        '--relays', list,
      ], /lockstep: http/)
    }
    const crowd = (number: number): [string, ...string[]] =>
      [stage.crowd, `http://127.0.0.1:${ports[0]}`, String(players / 2), String(stayMs), String(seed + number)]
    return await soakPrograms({
      ...options, downMs, backMsMax: BACK_MS_MAX,
      programs: { 'relay 0': start(0), 'relay 1': start(1) },
      crowds: { 'players 0': crowd(0), 'players 1': crowd(1) },
    })
  } finally {
    stage.close()
  }
}
