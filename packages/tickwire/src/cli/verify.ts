/**
 * `tickwire verify`: whether a recorded lockstep match is as the relay sealed it, and whether its worlds follow from
 * its ticks.
 */

import { parseArgs } from 'node:util'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import { rootText } from '../core/order/desync-report.ts'
import { MatchFile } from '../core/replay/match-file.ts'
import { verifyMatch, verifyTick, type MatchVerdict, type VerifyOptions } from '../core/replay/verify-match.ts'
import { stepMatch, type SteppedMatch } from '../core/lockstep/step-match.ts'
import { keyToText } from '../core/crypto/token-text.ts'
import { bestProvider } from '../node/crypto.ts'
import { UsageError, type AsyncCommand, type CommandWorld } from './command.ts'
import { loadLockstepModule } from './lockstep-module.ts'
import { readKeyOption } from './key-option.ts'
import { openRecordingOption, readCountOption } from './recording-option.ts'

const OPTIONS = {
  key: { type: 'string', multiple: true },
  tick: { type: 'string' },
  step: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

/** Verifies a recorded match. */
export const verify: AsyncCommand = {
  summary: 'check the seals of a recorded lockstep match, or one tick of it, or step it again',
  help: `
tickwire verify FILE [--key KEY]... [--tick N] [--step game.ts] [--json]

Checks that no tick, image or seal of a recording was changed, added or left out since the relay sealed it, and that the
players signed their orders. It needs no network and no code of the game.

  --key KEY        the public key of the relay (server.pub), or a file with it. Without it the seals are checked against
                   the key in the file, which anyone can have made. A match that went on at another relay is sealed by
                   the last one: give its key, and those of the others to name them
  --tick N         prove one tick: its seal, and the hashes beside its path
  --step game.ts   also step the game, and compare its hashes and images with the sealed ones. Ticks without a majority
                   of the players are named as disputed
  --json           the result as JSON

Exit code: 0 when everything is genuine, 1 when something is not.`,
  async run(args, world) {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    const provider = bestProvider()
    const options: VerifyOptions = {
      sha256: (bytes) => provider.sha256(bytes),
      verify: (publicKey, message, signature) => provider.importVerifying(publicKey).verify(message, signature),
      ...(values.key && { publicKeys: values.key.map((key) => readKeyOption('--key', key, 'server-public')) }),
    }
    const { recording, close } = openRecordingOption(positionals)
    try {
      const file = new MatchFile(recording)
      if (file.stretches.length === 0) throw new UsageError('this is not a recording of a lockstep match.')
      if (values.tick !== undefined)
        return proveTick(file, readCountOption('--tick', values.tick, 1, 1), options, world)
      const game = values.step === undefined ? undefined : await loadLockstepModule(values.step)
      return report(file, options, game, values, world)
    } finally {
      close()
    }
  },
}

function proveTick(file: MatchFile, tick: number, options: VerifyOptions, world: CommandWorld): number {
  const { isGenuine, text, hashes, root } = verifyTick(file, tick, options)
  world.print(`${isGenuine ? 'genuine' : 'NOT genuine'}: ${text}${isGenuine ? `, by ${hashes} hashes` : ''}`)
  if (root !== undefined)
    world.print(`world ${rootText(root.root)}, reported by ${root.agreed} of ${root.players} players`)
  return isGenuine ? 0 : 1
}

function report(
  file: MatchFile, options: VerifyOptions, game: LockstepGame | undefined,
  { key, json }: { readonly key?: readonly string[] | undefined; readonly json: boolean }, world: CommandWorld,
): number {
  const verdict = verifyMatch(file, options)
  const stepped = game && stepMatch(game, file, options.sha256)
  const problems = [...verdict.problems, ...(stepped?.problems ?? [])]
  if (json) {
    const players = Object.fromEntries(verdict.players)
    const publicKey = verdict.publicKey && shownKey(verdict.publicKey)
    const handover = verdict.handover && { ...verdict.handover, relayKey: shownKey(verdict.handover.relayKey) }
    world.print(JSON.stringify({ ...verdict, problems, players, publicKey, handover, ...(stepped && { stepped }) }))
    return problems.length > 0 ? 1 : 0
  }
  const { ticks, sealedTicks, seals, roots, images, lostTicks, players } = verdict
  world.print(`${ticks} ticks, ${sealedTicks} sealed by ${seals} seals${key === undefined ? ' of an unknown key' : ''}`)
  world.print(`${roots} hashes of worlds (64 bits), ${images} images (SHA-256)`)
  for (const line of handoverLines(verdict, options)) world.print(line)
  if (lostTicks > 0) world.print(`incomplete: ${lostTicks} ticks were lost while recording`)
  for (const [player, tick] of players) world.print(`player ${player} signed its orders up to tick ${tick}`)
  if (stepped !== undefined) printStepped(stepped, world)
  for (const problem of problems) world.print(`NOT genuine: ${problem}`)
  if (problems.length === 0) world.print(sealedTicks === 0 ? 'no seals: nothing is proved' : 'genuine')
  return problems.length > 0 ? 1 : 0
}

/** Which relay had the match before, and up to where its signature and its players prove the ticks. */
function handoverLines({ handover, publicKey }: MatchVerdict, { publicKeys }: VerifyOptions): string[] {
  if (handover === undefined) return []
  const { relayKey, signedTick, tick, holders } = handover
  const before = shownKey(relayKey)
  const isKnown = publicKeys?.some((key) => shownKey(key) === before) === true
  const signed = signedTick === 0 ? 'signed no ticks of this file' : `signed ticks 1 to ${signedTick}`
  return [
    `relay ${before}${isKnown ? '' : ' (its key was not given)'} ${signed}`,
    `${holders} players held the ticks up to ${tick}`,
    `relay ${publicKey === undefined ? 'unknown' : shownKey(publicKey)} continued from tick ${tick + 1} on`,
  ]
}

function shownKey(key: Uint8Array): string {
  return keyToText('server-public', key)
}

function printStepped({ ticks, roots, images, disputed, isHealed }: SteppedMatch, { print }: CommandWorld): void {
  print(`stepped ${ticks} ticks: ${roots} hashes and ${images} images are equal`)
  if (disputed.length === 0) return
  const what = isHealed ? 'disputed, then healed' : 'disputed'
  print(`${what}: no majority of the players in ticks ${disputed.join(', ')}`)
}
