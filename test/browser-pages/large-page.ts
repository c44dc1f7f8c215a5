/** A page that sends and receives large messages when a test says so. */

import { bool, bytes, defineGame, entity, message, rpc, text, u8, type Game } from 'tickwire'
import type { Transfer } from 'tickwire/engine'
import { connect, type Room } from 'tickwire/browser'

/** The bytes of data in one message: 260,864, less its number and the length of the bytes. */
export const DATA_BYTES = 260_860
export const Level = message({ data: bytes(260_864) }, 'Level')
export const Chat = message({ text: text(40) }, 'Chat')
export const Load = rpc({ slot: u8 }, { to: 'server', reply: { save: bytes(220_000) }, name: 'Load' })

const INPUT = { right: bool }

export const game: Game<typeof INPUT> = defineGame({
  tickRate: 30,
  input: INPUT,
  entities: [entity({ x: u8 }, { name: 'Thing' })],
  messages: [Chat, Level],
  rpcs: [Load],
  step() {},
})

export function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + (at >>> 8)) & 0xff)
}

export function isPattern(data: Uint8Array): boolean {
  return data.every((byte, at) => byte === ((at * 31 + (at >>> 8)) & 0xff))
}

let room: Room<typeof INPUT> | undefined
const received = { levels: [] as number[], chats: [] as string[], progress: [] as Transfer[] }

export async function join(url: string): Promise<string> {
  room = await connect(game, url, { transports: ['websocket'] })
  room.on(Level, ({ data }) => received.levels.push(isPattern(data) ? data.length : -1))
  room.on(Chat, (said) => received.chats.push(said.text))
  room.play({ input: () => ({ right: false }), draw: () => received.progress.push(...room!.transfers) })
  return room.transport
}

export function send(length: number): string {
  return room!.send(Level, { data: pattern(length) })
}

export async function load(slot: number): Promise<number | string> {
  const result = await room!.tools.host.request(Load, { slot }, { timeoutMs: 60_000 })
  return result.isOk ? (isPattern(result.values.save) ? result.values.save.length : 'damaged') : result.reason
}

export function seen(): typeof received {
  return received
}
