/** A page that registers every kind of listener once, before an outage, and counts what they are called with. */

import {
  bool, defineGame, entity, fixed, message, rpc, sharedAuthority, text, u8, type Game, type RpcResult,
} from 'tickwire'
import { connect, type Room } from 'tickwire/browser'
import { openDevtools, type Devtools } from 'tickwire/devtools'

export const Walker = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Walker' })
/** A page requests authority over it, and then writes it. */
export const Ball = entity({ dents: u8 }, { name: 'Ball', authority: 'shared' })
export const Chat = message({ text: text(40) }, 'Chat')
/** Requests of a page, and calls to a page. */
export const Ask = rpc({ number: u8 }, { to: 'server', reply: { twice: u8 }, name: 'Ask' })
export const Tell = rpc({ number: u8 }, { to: 'server', name: 'Tell' })
export const Boom = rpc({ number: u8 }, { to: 'all', name: 'Boom' })
export const Flash = message({ text: text(40) }, 'Flash')

const INPUT = { right: bool }

export const game: Game<typeof INPUT> = defineGame({
  tickRate: 30,
  input: INPUT,
  entities: [Walker, Ball],
  messages: [Chat, Flash],
  rpcs: [Ask, Tell, Boom],
  onJoin(world, peer) {
    world.spawn(Walker, { x: 10 }, peer)
    if (world.count(Ball) === 0) world.spawn(Ball, {})
  },
  step(world, inputs) {
    for (const walker of world.each(Walker)) {
      if (inputs.of(walker.owner).right) walker.x = (walker.x + 1) % 900
      if (world.every(10)) world.emit(walker, Flash, { text: 'flash' })
    }
  },
})

let room: Room<typeof INPUT> | undefined
let devtools: Devtools | undefined
let view: unknown
let removeChat: () => void = () => {}
let removeBoom: () => void = () => {}
const counts: Record<string, number> = {}
const shown = new Map<number, number>()
const errors: string[] = []

function count(name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

export async function join(url: string): Promise<number> {
  room = await connect(game, url, { authority: sharedAuthority })
  view = room.view
  const joined = room
  joined.view.on('spawn', Walker, ({ id }) => {
    count('spawn')
    shown.set(id, (shown.get(id) ?? 0) + 1)
  })
  joined.view.on('despawn', Walker, ({ id }) => {
    count('despawn')
    shown.set(id, (shown.get(id) ?? 0) - 1)
  })
  joined.view.on('change', Walker, () => count('change'))
  removeChat = joined.on(Chat, () => count('chat'))
  joined.on(Chat, () => count('chat too'))
  removeBoom = joined.handle(Boom, () => count('boom'))
  joined.onEvent(Flash, () => count('flash'))
  joined.onAway(() => count('away'))
  joined.onBack(() => count('back'))
  joined.onTransport(() => count('transport'))
  joined.tools.onHost((host) => {
    count('host')
    host.look({ handleStepped: () => count('stepped') })
  })
  joined.play({ input: () => ({ right: true }), draw: () => count('draw') })
  devtools = openDevtools(joined)
  return joined.peer
}

/** From now on there are callbacks that throw, and the page gets their errors. */
export function misbehave(): void {
  const fail = (): never => { throw new Error('on purpose') }
  room!.onError(({ callback }) => errors.push(callback))
  room!.view.on('change', Walker, fail)
  room!.on(Chat, fail)
  room!.onBack(fail)
  let calls = 0
  room!.play({ input: () => (calls++ % 2 === 0 ? fail() : { right: true }), draw: fail })
}

export function forgetChat(): void {
  removeChat()
  removeBoom()
}

/** A request, and a call without a reply. */
export async function ask(number: number): Promise<RpcResult<{ twice: number }>> {
  room!.call(Tell, { number })
  return await room!.request(Ask, { number }, { timeoutMs: 2000 })
}

/** Asks for the ball, and gives it back. */
export async function borrow(): Promise<boolean> {
  const [ball] = [...room!.view.each(Ball)]
  if (ball === undefined) return false
  const { isGranted } = await room!.requestAuthority(ball)
  room!.releaseAuthority(ball)
  return isGranted
}

export function look(): {
  counts: Record<string, number>
  isSameView: boolean
  shown: number[]
  overlay: { transport: string; received: number }
  errors: string[]
  isAway: boolean
} {
  const { transport, received } = devtools!.readings()
  return {
    counts: { ...counts },
    isSameView: room!.view === view,
    shown: [...shown.values()],
    overlay: { transport, received },
    errors: [...new Set(errors)].toSorted(),
    isAway: room!.isAway,
  }
}
