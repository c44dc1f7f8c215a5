/** The operator page of a fleet, with real processes: the lists, the four acts, and requests that must not act. */

import { request } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { connect, fleet as fleetPlace } from 'tickwire/node'
import { ChaosStage, ended, freePort, until } from '../chaos/chaos-stage.ts'
import { game } from '../chaos/game.ts'

const stage = new ChaosStage()
afterAll(async () => await stage.close())

interface Listed {
  readonly id: string
  readonly isDraining: boolean
  readonly players: number
  readonly rooms: readonly { readonly id: string; readonly players: number }[]
}

test('[FLEET13] an operator lists, inspects, kicks, closes and drains; a foreign page cannot', async () => {
  const port = await freePort()
  const at = await stage.fleet(['--ops', `${port}`], undefined, { TICKWIRE_FLEET_SECRET: 'a secret of the fleet' })
  const server = await stage.server(at.url, '1', 8, { TICKWIRE_FLEET_SECRET: 'a secret of the fleet' })
  const list = async (): Promise<readonly Listed[]> => (await ask(port, '/fleet')).body.servers
  const [ada, ben] = [await connect(game, fleetPlace(at.url)), await connect(game, fleetPlace(at.url))]
  await until(async () => (await list())[0]?.rooms[0]?.players === 2, 'both players are listed')
  const [listed] = await list()
  expect(listed).toMatchObject({ isDraining: false, players: 2, version: '1', rooms: [{ id: ada.id, type: 'melee' }] })
  const { id } = listed!
  const acts = `/servers/${id}/acts`
  const room = `/servers/${id}/rooms/${ada.id}`
  const { body: seen } = await ask(port, room)
  expect(seen).toMatchObject({ id: ada.id, capacity: 8, tick: expect.any(Number), tickMs: { p99: expect.any(Number) } })
  expect(seen.members).toEqual([ada, ben].map(({ peer }) => (
    { id: peer, role: 'player', isAway: false }
  )))

  // A page of another origin, one whose name resolves to this machine, a proxy, and a form.
  const drain = { act: 'drain' }
  const own = { origin: `http://127.0.0.1:${port}` }
  for (const headers of [
    { origin: 'https://evil.example' }, { origin: 'null' }, { origin: 'http://127.0.0.1:1' },
    { 'x-forwarded-for': '203.0.113.9' },
  ]) expect([(await ask(port, acts, drain, headers)).status, headers]).toEqual([403, headers])
  const rebound = { host: 'evil.example', origin: 'http://evil.example' }
  for (const path of ['/', '/fleet', room]) expect((await ask(port, path, undefined, rebound)).status).toBe(421)
  expect((await ask(port, acts, drain, rebound)).status).toBe(421)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
    expect((await ask(port, acts, drain, { 'content-type': type })).status).toBeGreaterThanOrEqual(400)
  expect((await list())[0]).toMatchObject({ isDraining: false, players: 2 })
  // The game server itself answers only its fleet.
  const direct = await fetch(`${server.url}/tickwire/fleet/act`, { method: 'POST', body: JSON.stringify(drain) })
  expect(direct.status).toBe(403)

  for (const [body, status] of [
    [{ act: 'explode' }, 400], [{ act: 'close' }, 400], [{ act: 'close', room: 'NOSUCHROOM' }, 409],
    [{ act: 'kick', room: ada.id, peer: 999 }, 409],
  ] as const) expect([(await ask(port, acts, body, own)).status, body]).toEqual([status, body])
  expect((await ask(port, `/servers/${'0'.repeat(32)}/acts`, drain)).status).toBe(404)

  expect((await ask(port, acts, { act: 'kick', room: ada.id, peer: ben.peer }, own)).status).toBe(200)
  expect(await ben.closed).toEqual({ by: 'peer', code: 'kicked' })
  await until(async () => (await list())[0]?.rooms[0]?.players === 1, 'one player is left')
  expect((await ask(port, acts, { act: 'close', room: ada.id }, own)).status).toBe(200)
  expect(await ada.closed).toMatchObject({ by: 'peer' })
  await until(async () => (await list())[0]?.rooms.length === 0, 'the room is gone')

  // Pressed twice: it ends once, in an orderly way.
  expect((await ask(port, acts, drain, own)).status).toBe(200)
  await ask(port, acts, drain, own)
  await ended(server.child)
  expect(server.child.exitCode).toBe(0)
  expect(await list()).toEqual([])
}, 120_000)

interface Answer {
  readonly status: number
  // reason: JSON of the service, whose fields the test compares.
  readonly body: any
}

async function ask(port: number, path: string, body?: object, headers: object = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1', port, path, method: body === undefined ? 'GET' : 'POST',
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
    }, (response) => {
      let text = ''
      response.on('data', (chunk) => { text += String(chunk) })
      response.on('end', () => resolve({
        status: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text,
      }))
    })
    sent.on('error', reject).end(body && JSON.stringify(body))
  })
}
