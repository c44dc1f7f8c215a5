/**
 * A game for headless players, built from its text alone. They can join, send inputs and receive, but not step: nothing
 * is predicted.
 */

import { entropy, packed } from '../core/codec/snapshot-codec.ts'
import { defineGame, type Game } from '../core/game/define-game.ts'
import { readGameText } from '../core/replay/game-text.ts'
import { Message, type MessageDelivery } from '../core/schema/definition.ts'
import { fingerprintOf } from '../core/schema/fingerprint.ts'

/**
 * The game; or a sentence that says why its code is needed. `names`: the names of its entities, without which learnt
 * tables cannot be read.
 */
export function gameOfText(text: string, names: readonly string[] = []): Game | string {
  const lines = text.split('\n')
  if (lines.some((line) => line.startsWith('rpc '))) return 'it has remote calls, whose code is needed'
  if (lines.includes('predict all')) return 'everybody predicts everything in it, which needs its code'
  const parsed = readGameText(text, names)
  if (typeof parsed === 'string') return parsed
  const [, said] = /^codec (\S+)/m.exec(text) ?? []
  const codec = [packed, entropy()].find((known) => known.text === said)
  if (codec === undefined) return 'its snapshots are coded by tables that were trained for it, or by another build'
  const deliveries = lines.filter((line) => line.startsWith('message ')).map(deliveryOf)
  const messages = parsed.messages.map(
    ({ schema }, type) => new Message(schema.shape, `message ${type}`, { delivery: deliveries[type] ?? 'reliable' }),
  )
  const { tickRate, snapshotTicks, entities } = parsed
  const game = defineGame({
    tickRate,
    codec,
    net: { snapshotRate: tickRate / snapshotTicks },
    input: parsed.inputSchema.shape,
    entities,
    messages,
    step: () => {},
  })
  // Not set in the definition: with shared objects a client must step its own, and these players do not step.
  return { ...game, predict: 'none', ...(game.text !== text && { text, fingerprint: fingerprintBytes(text) }) }
}

function deliveryOf(line: string): MessageDelivery {
  return /} (unordered|latest|unreliable)$/.exec(line)?.[1] as MessageDelivery | undefined ?? 'reliable'
}

/** The fingerprint of a game's text, as a handshake has it. */
export function fingerprintBytes(text: string): Uint8Array {
  const words = fingerprintOf(text)
  return Uint8Array.from({ length: words.length * 4 }, (_, at) => (words[at >>> 2] ?? 0) >>> ((at & 3) * 8))
}
