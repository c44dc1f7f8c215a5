/**
 * `tickwire replay-log`: the first tick in which a client differed, by its order log: against the log of another
 * client, or against the game, stepped again.
 */

import { parseArgs } from 'node:util'
import type { Tick } from '../core/base/time.ts'
import { rootText } from '../core/order/desync-report.ts'
import type { Root } from '../core/order/sync-messages.ts'
import { stepMatch } from '../core/lockstep/step-match.ts'
import { CHUNK } from '../core/replay/chunk.ts'
import { decodeHashes } from '../core/replay/hash-chunk.ts'
import { MatchFile } from '../core/replay/match-file.ts'
import { bestProvider } from '../node/crypto.ts'
import { UsageError, type AsyncCommand } from './command.ts'
import { loadLockstepModule } from './lockstep-module.ts'
import { openRecordingOption } from './recording-option.ts'

/** Compares order logs. */
export const replayLog: AsyncCommand = {
  summary: 'the first tick in which a client of a lockstep match differed',
  help: `
tickwire replay-log LOG [LOG] [--step game.ts]

Compares two order logs of one match (DebugLog, level 1) tick by tick, or steps the game with the ticks of one log and
compares the hashes. A recording of the relay (.twr) can be given as well: it has the hashes that players agreed on.

  --step game.ts   step this game

Exit code: 0 when all hashes are equal, 1 when one differs.`,
  async run(args, world) {
    const { values, positionals } = parseArgs({
      args: [...args], options: { step: { type: 'string' } }, allowPositionals: true,
    })
    const [first, second, ...rest] = positionals
    if (first === undefined || rest.length > 0 || (second === undefined && values.step === undefined))
      throw new UsageError('expected two logs, or one log and --step. Fix: tickwire replay-log LOG --step game.ts.')
    const own = openLog(first)
    const other = second === undefined ? undefined : openLog(second)
    const ticks = [...own.roots.keys()].sort((a, b) => a - b)
    if (other !== undefined) {
      const common = ticks.filter((tick) => other.roots.has(tick))
      const bad = common.find((tick) => textAt(own.roots, tick) !== textAt(other.roots, tick))
      world.print(`${common.length} hashes of both logs`)
      if (bad !== undefined) {
        world.print(`first different tick: ${bad} (${textAt(own.roots, bad)} against ${textAt(other.roots, bad)})`)
        return 1
      }
    }
    if (values.step !== undefined) {
      const provider = bestProvider()
      const game = await loadLockstepModule(values.step)
      const sha256 = (bytes: Uint8Array): Uint8Array => provider.sha256(bytes)
      const { firstBad, roots, ticks: stepped } = stepMatch(game, own.file, sha256, own.roots)
      world.print(`stepped ${stepped} ticks, ${roots} hashes are equal`)
      if (firstBad > 0) {
        world.print(`first different tick: ${firstBad}`)
        return 1
      }
    }
    world.print('all are equal')
    return 0
  },
}

/** The file and the hash of each tick: those of the client, or those that the seals have. */
function openLog(path: string): { readonly file: MatchFile; readonly roots: ReadonlyMap<Tick, Root> } {
  const { recording, close } = openRecordingOption([path])
  try {
    const file = new MatchFile(recording)
    const roots = new Map<Tick, Root>(
      file.seals.flatMap(({ seal }) => seal.roots).map(({ tick, root }) => [tick, root]),
    )
    for (const chunk of recording.chunks) {
      const body = chunk.type === CHUNK.hashes ? recording.load(chunk) : undefined
      for (const [tick, root] of (body && decodeHashes(body, chunk.tick)) ?? []) roots.set(tick, root)
    }
    return { file, roots }
  } finally {
    close()
  }
}

function textAt(roots: ReadonlyMap<Tick, Root>, tick: Tick): string {
  const root = roots.get(tick)
  return root === undefined ? '' : rootText(root)
}
