/**
 * Two TURN clients in a network namespace: they name every spelling as a peer, in every way that TURN has. Started with
 * `{"port":7777,"relay":"100.64.0.10","users":[{"username","credential"},…]}`. It prints `done` and how often it tried.
 */

import { createSocket } from 'node:dgram'
import { type TurnMessage, readTurn, turnKeyOf, writeTurn } from '../../test/reference/turn-checker.ts'
import { SPELLINGS } from './spellings.ts'

interface Orders {
  readonly relay: string
  readonly port: number
  readonly users: readonly { readonly username: string; readonly credential: string }[]
}

const { relay, port, users }: Orders = JSON.parse(process.argv[2]!)
let tries = 0
let transactions = 0

async function attack({ username, credential }: Orders['users'][number]): Promise<void> {
  const socket = createSocket('udp4')
  let nonce = ''
  const write = (method: TurnMessage['method'], attributes: TurnMessage['attributes']): Buffer => {
    const key = nonce === '' || method === 'send' ? undefined : turnKeyOf(username, 'turn', credential)
    const signed: TurnMessage['attributes'] = key === undefined ? []
      : [['username', username], ['realm', 'turn'], ['nonce', nonce]]
    return writeTurn({
      method, class: method === 'send' ? 'indication' : 'request', hasFingerprint: false,
      transaction: (++transactions).toString(16).padStart(24, '0'), attributes: [...attributes, ...signed],
    }, key)
  }
  const ask = (bytes: Buffer): Promise<TurnMessage | undefined> => new Promise((resolve) => {
    const late = setTimeout(() => resolve(undefined), 300)
    socket.once('message', (answer) => {
      clearTimeout(late)
      resolve(readTurn(answer))
    })
    socket.send(bytes, port, relay)
  })
  const challenge = await ask(write('allocate', [['transport', 17]]))
  nonce = String(challenge?.attributes.find(([name]) => name === 'nonce')?.[1] ?? '')
  const allocated = await ask(write('allocate', [['transport', 17]]))
  if (allocated?.class !== 'success') throw new Error(`no allocation: ${JSON.stringify(allocated)}`)
  await ask(write('createPermission', [['peer', `${relay}:2`]]))
  for (const [index, spelling] of SPELLINGS.entries()) {
    await ask(write('createPermission', [['peer', spelling]]))
    await ask(write('channelBind', [['channel', 0x4000 + index], ['peer', spelling]]))
    const data = Buffer.alloc(104, 0x41)
    data.writeUInt16BE(0x4000 + index, 0)
    data.writeUInt16BE(100, 2)
    socket.send(data, port, relay)
    socket.send(write('send', [['peer', spelling], ['data', '41'.repeat(100)]]), port, relay)
    tries += 4
  }
  await new Promise((resolve) => setTimeout(resolve, 200))
  socket.close()
}

for (const user of users) await attack(user)
console.log(`done ${tries}`)
