/** A page that hosts a match under a code, or joins one. */

import { sharedAuthority } from 'tickwire'
import {
  connect, host, type ConnectError, type HostedMatch, type HostOptions, type Room,
} from 'tickwire/browser'
import { Body, game } from './code-game.ts'

let hosted: HostedMatch | undefined
let room: Room | undefined
let end = ''
let timers = 0

export async function hostMatch(options: Partial<HostOptions> = {}): Promise<{ code: string; link: string }> {
  hosted = await host(game, { worker: startWorker, ...options })
  enter(await connect(game, hosted, { authority: sharedAuthority }))
  return { code: hosted.code, link: hosted.link }
}

/** Whether the channels of guests are in the Worker itself. */
let areTransferred: boolean | undefined

let worker: Worker

function startWorker(): Worker {
  worker = new Worker(`/worker.js${location.search}`)
  const post = worker.postMessage.bind(worker) as (message: unknown, transfer: Transferable[]) => void
  worker.postMessage = (message: { name: string; channel?: unknown }, transfer: unknown) => {
    post(message, transfer as Transferable[])
    if (message.name === 'channel') areTransferred = message.channel !== undefined
  }
  return worker
}

export async function join(where: string, options: object = {}): Promise<string> {
  try {
    enter(await connect(game, where, { authority: sharedAuthority, ...options }))
    return 'joined'
  } catch (error) {
    return (error as ConnectError).code ?? String(error)
  }
}

function enter(joined: unknown): void {
  room = joined as Room
  void room.closed.then(({ code }) => { end = code })
  room.play({ input: () => ({}) })
}

export function state(): object {
  return {
    players: room === undefined ? 0 : [...room.view.each(Body)].length,
    tick: room?.view.tick ?? 0, path: room?.path ?? '', reason: room?.pathReason ?? '',
    transport: room?.transport ?? '', end, isHidden: document.hidden, timers, isAway: room?.isAway ?? true,
    areTransferred,
  }
}

export function countTimers(): void {
  setInterval(() => { timers++ }, 4)
}

/** The match ends without a word, as when the browser is killed. */
export function vanish(): void {
  worker.terminate()
}

export async function close(): Promise<void> {
  await hosted?.close()
}
