/** Relays of one group as processes, for tests in which one of them is killed. */

import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

export interface GroupProcess {
  readonly child: ChildProcess
  readonly url: string
  readonly udp: string
}

/** A TCP port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => { server.close(resolve) })
  return port
}

/** Starts `count` relays. `folders`: one with pages, and one for replays. */
export async function startGroup(count: number, ...folders: string[]): Promise<GroupProcess[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  return await Promise.all(ports.map((_, number) => start(number, ports.join(','), folders)))
}

async function start(number: number, ports: string, folders: readonly string[]): Promise<GroupProcess> {
  const file = fileURLToPath(new URL('handover-process.ts', import.meta.url))
  const args = ['--conditions=tickwire-source', '--import', 'tsx', file, String(number), ports, ...folders]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return await new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString()
      const found = /ready (\S+) (\S+)\n/.exec(text)
      if (found !== null) resolve({ child, url: found[1]!.replace('localhost', '127.0.0.1'), udp: found[2]! })
    })
    child.on('exit', (code) => { reject(new Error(`relay ${number} ended with ${code}: ${text}`)) })
  })
}
