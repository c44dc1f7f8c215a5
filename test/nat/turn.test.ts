import { describe, expect, test } from 'vitest'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { form } from '../form.ts'
import { readTurn, writeTurn } from '../reference/turn-checker.ts'
import { RELAYED, TurnClient, TurnStage, codeOf, valueOf } from './turn-stage.ts'

/** Two clients of one session, each with a permission. */
function pair(stage: TurnStage = new TurnStage()): readonly [TurnClient, TurnClient] {
  const clients = ['198.51.100.1:4000', '198.51.100.2:5000'].map(
    (address) => new TurnClient(stage, address, stage.token(1)),
  )
  for (const client of clients) expect(client.allocate()).toBe(0)
  for (const client of clients) expect(client.permit(`${RELAYED}:1`)).toBe(0)
  // reason: there are two of them.
  return clients as unknown as readonly [TurnClient, TurnClient]
}

describe('strangers', () => {
  test('[TURN2] a stranger gets 401 with a nonce, at most twice as long as the question, and costs no state', () => {
    const stage = new TurnStage()
    const transaction = '0102030405060708090a0b0c'
    const question = writeTurn({
      method: 'allocate', class: 'request', transaction, attributes: [['transport', 17]], hasFingerprint: false,
    })
    const answer = stage.give('198.51.100.1:4000', question)!
    expect(answer.to).toBe('198.51.100.1:4000')
    const message = readTurn(answer.bytes)
    expect([codeOf(message), message.transaction, valueOf(message, 'realm')]).toEqual([401, transaction, 'turn'])
    expect(answer.bytes.length / question.length).toBeLessThan(2)
    expect(stage.relay.allocations).toBe(0)
    for (const method of ['allocate', 'refresh', 'createPermission', 'channelBind'] as const) {
      const bare = writeTurn({ method, class: 'request', transaction, attributes: [], hasFingerprint: false })
      expect(stage.give('198.51.100.3:4000', bare)).toBeUndefined()
    }
    for (const method of ['data', 'binding'] as const) {
      const other = writeTurn({ method, class: 'indication', transaction, attributes: [], hasFingerprint: false })
      expect(stage.give('198.51.100.3:4000', other)).toBeUndefined()
    }
  })

  test('[TURN2] answers to strangers are limited for each origin', () => {
    const stage = new TurnStage()
    let answers = 0
    for (let index = 0; index < 500; index++) {
      const question = writeTurn({
        method: 'allocate', class: 'request', transaction: index.toString(16).padStart(24, '0'),
        attributes: [['transport', 17]], hasFingerprint: false,
      })
      if (stage.give(`198.51.100.1:${4000 + index}`, question) !== undefined) answers++
    }
    expect(answers).toBeLessThanOrEqual(20)
  })

  test('[TURN2] a nonce is valid at its address only, and for two minutes at most', () => {
    const stage = new TurnStage()
    const [owner, thief] = ['198.51.100.1:4000', '198.51.100.2:4000'].map(
      (address) => new TurnClient(stage, address, stage.token(1)),
    )
    owner!.learnNonce()
    thief!.nonce = owner!.nonce
    expect(codeOf(thief!.ask('allocate', [['transport', 17]]))).toBe(438)
    stage.now += 120_000
    const stale = owner!.ask('allocate', [['transport', 17]])
    expect(codeOf(stale)).toBe(438)
    owner!.nonce = String(valueOf(stale, 'nonce'))
    expect(codeOf(owner!.ask('allocate', [['transport', 17]]))).toBe(0)
  })
})

describe('credentials', () => {
  test('[TURN3] a token that no relay accepts gets 401, and no allocation', () => {
    const stage = new TurnStage()
    const stranger = pureProvider.importSigning(new Uint8Array(32).fill(8))
    const tokens = [
      stage.token(1, { audience: 'other' }), stage.token(1, { expiresAt: 1_799_999_999, issuedAt: 1_799_999_000 }),
      stage.token(1, {}, stranger), new Uint8Array(140), new Uint8Array(0),
    ]
    tokens.forEach((token, index) =>
      expect(new TurnClient(stage, `198.51.100.${index + 1}:4000`, token).allocate()).toBe(401),
    )
    expect([stage.relay.allocations, stage.relay.counts.tokens]).toEqual([0, 5])
  })

  test('[TURN3] a token is spent by the machine that showed it first: four allocations of it share one quota', () => {
    const stage = new TurnStage({ quota: { packetsPerSecond: 40 } })
    const token = stage.token(1)
    const clients = [1, 2, 3, 4, 5].map((port) => new TurnClient(stage, `198.51.100.1:${port}`, token))
    expect(clients.map((client) => client.allocate())).toEqual([0, 0, 0, 0, 486])
    expect(new TurnClient(stage, '198.51.100.9:1', token).allocate()).toBe(486)
    expect(stage.relay.allocations).toBe(4)
    for (const client of clients.slice(0, 4)) client.permit(`${RELAYED}:1`)
    let passed = 0
    for (let index = 0; index < 100; index++)
      if (clients[index % 4]!.send(clients[(index + 1) % 4]!.relayed, 'aa') !== undefined) passed++
    expect(passed).toBe(40)
    // The first allocation of the token ends; the others still share its quota.
    clients[0]!.ask('refresh', [['lifetime', 0]])
    expect(clients[1]!.send(clients[2]!.relayed, 'aa')).toBeUndefined()
    stage.now += 100
    expect(clients[1]!.send(clients[2]!.relayed, 'aa')).toBeDefined()
    for (const client of clients.slice(1, 4)) client.ask('refresh', [['lifetime', 0]])
    expect([stage.relay.allocations, new TurnClient(stage, '198.51.100.9:1', token).allocate()]).toEqual([0, 0])
  })

  test('[TURN3] pages that closed give way to new ones of the same origin', () => {
    const stage = new TurnStage({ areLocalExempt: false })
    const open = (port: number): number =>
      new TurnClient(stage, `198.51.100.1:${port}`, stage.token(port)).allocate()
    const codes: number[] = []
    for (let port = 1; port <= 9; port++) {
      stage.now += 1000
      codes.push(open(port))
    }
    expect(codes).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 486])
    stage.now += 31_000
    expect(open(10)).toBe(0)
  })
})

describe('data', () => {
  test('[TURN4] data passes both ways, as indications and on channels', () => {
    const [a, b] = pair()
    const first = a.send(b.relayed, '010203')!
    expect([first.to, first.bytes.length % 4]).toEqual([b.address, 0])
    const indication = readTurn(first.bytes)
    expect([indication.method, indication.class]).toEqual(['data', 'indication'])
    expect(indication.attributes).toEqual([['peer', a.relayed], ['data', '010203']])
    expect(codeOf(b.ask('channelBind', [['channel', 0x4001], ['peer', a.relayed]]))).toBe(0)
    expect(a.send(b.relayed, '010203')!.bytes.toString('hex')).toBe('40010003010203')
    expect(codeOf(a.ask('channelBind', [['channel', 0x7fff], ['peer', b.relayed]]))).toBe(0)
    expect(b.sendByChannel(0x4001, '0a0b')).toEqual({ to: a.address, bytes: Buffer.from('7fff00020a0b', 'hex') })
    expect(a.sendByChannel(0x7fff, '0a', 3)).toEqual({ to: b.address, bytes: Buffer.from('400100010a', 'hex') })
    expect([a.sendByChannel(0x7ffe, '0a'), a.sendByChannel(0x7fff, '0a', 4)]).toEqual([undefined, undefined])
    // A channel belongs to one peer, and a peer has one channel.
    expect(codeOf(a.ask('channelBind', [['channel', 0x7fff], ['peer', b.relayed]]))).toBe(0)
    expect(codeOf(a.ask('channelBind', [['channel', 0x7ffe], ['peer', b.relayed]]))).toBe(400)
    expect(codeOf(a.ask('channelBind', [['channel', 0x3fff], ['peer', b.relayed]]))).toBe(400)
  })

  test('[TURN4] a client without a permission receives nothing and sends nothing', () => {
    const stage = new TurnStage()
    const [a, b] = ['198.51.100.1:4000', '198.51.100.2:5000'].map(
      (address) => new TurnClient(stage, address, stage.token(1)),
    )
    for (const client of [a!, b!]) client.allocate()
    expect(a!.send(b!.relayed, 'aa')).toBeUndefined()
    a!.permit(b!.relayed)
    expect(a!.send(b!.relayed, 'aa')).toBeUndefined()
    b!.permit(a!.relayed)
    expect(a!.send(b!.relayed, 'aa')).toBeDefined()
  })

  test('[TURN4] (T22) nothing leaves for an address outside of the session', () => {
    const stage = new TurnStage()
    const [a] = pair(stage)
    const stranger = new TurnClient(stage, '198.51.100.7:7000', stage.token(2))
    stranger.allocate()
    stranger.permit(a.relayed)
    const addresses = [
      '127.0.0.1:22', '10.0.0.1:80', '192.168.1.1:53', '169.254.169.254:80', '0.0.0.0:1', '255.255.255.255:9',
      '203.0.113.10:7777', '203.0.113.10:22', '198.51.100.2:5000', stranger.relayed, stranger.address, a.relayed,
      '[::1]:22', '[::ffff:7f00:1]:22', '[::ffff:a00:1]:80', '[64:ff9b::7f00:1]:80', '[fe80::1]:1', '[ff02::1]:1',
      '[2002:7f00:1::]:1', '[::]:1', '[::ffff:cb00:710a]:7777', '8.8.8.8:53', '224.0.0.1:1',
    ]
    const before = stage.sent.length
    for (const address of addresses) expect([address, a.send(address, 'aabb')]).toEqual([address, undefined])
    expect(stage.sent.length).toBe(before)
    for (const address of addresses) {
      expect(codeOf(a.ask('channelBind', [['channel', 0x4005], ['peer', address]]))).toBe(403)
      expect(a.sendByChannel(0x4005, 'aabb')).toBeUndefined()
      const isOwn = address.startsWith(`${RELAYED}:`) || address.startsWith('[::ffff:cb00:710a]')
      expect([address, a.permit(address)]).toEqual([address, isOwn ? 0 : 403])
    }
    expect(stage.sent.slice(before).every(({ to }) => to === a.address)).toBe(true)
    expect(stage.relay.counts.forwarded).toBe(0)
  })

  test('[TURN4] native peers and TURN clients of one session do not reach each other by number', () => {
    const stage = new TurnStage()
    const [a, b] = pair(stage)
    // Relay control from the address of a TURN client names no allocation.
    const bind = Buffer.alloc(47)
    Buffer.from('544b570305', 'hex').copy(bind)
    bind[13] = 4
    expect(stage.give(a.address, bind)).toBeUndefined()
    expect(a.send(b.relayed, 'aa')).toBeDefined()
  })
})

describe('control', () => {
  test('[TURN5] requests that TURN refuses get its codes', () => {
    const stage = new TurnStage()
    const [a] = pair(stage)
    expect(codeOf(a.ask('allocate', [['transport', 17]]))).toBe(437)
    expect(codeOf(a.ask('createPermission', []))).toBe(400)
    expect(codeOf(a.ask('refresh', [['0x42', '00']]))).toBe(420)
    const other = new TurnClient(stage, '198.51.100.5:1', stage.token(1))
    other.learnNonce()
    expect(codeOf(other.ask('refresh', [['lifetime', 600]]))).toBe(437)
    expect(codeOf(other.ask('allocate', []))).toBe(400)
    expect(codeOf(other.ask('allocate', [['transport', 6]]))).toBe(442)
    expect(codeOf(other.ask('allocate', [['transport', 17], ['family', 2]]))).toBe(440)
    expect(codeOf(other.ask('allocate', [['transport', 17], ['evenPort', '80']]))).toBe(508)
    expect(codeOf(other.ask('allocate', [['transport', 17], ['evenPort', '00'], ['family', 1]]))).toBe(0)
    // Another token at the address of an allocation.
    const token = new TurnClient(stage, a.address, stage.token(1))
    token.nonce = a.nonce
    expect(codeOf(token.ask('refresh', [['lifetime', 0]]))).toBe(441)
    stage.relay.drain(stage.now, 1000)
    expect(new TurnClient(stage, '198.51.100.6:1', stage.token(1)).allocate()).toBe(508)
  })

  test('[TURN5] an answer that was lost is repeated for the same request', () => {
    const stage = new TurnStage()
    const client = new TurnClient(stage, '198.51.100.1:4000', stage.token(1))
    client.learnNonce()
    const request = client.request('allocate', [['transport', 17]])
    expect(stage.give(client.address, request)).toEqual(stage.give(client.address, request))
    expect(stage.relay.allocations).toBe(1)
  })

  test('[TURN5] an allocation lives for ten minutes after its last Refresh, and ends with one of zero', () => {
    const stage = new TurnStage({ quota: { minutes: 60 } })
    const [a, b] = pair(stage)
    const refresh = (client: TurnClient, seconds: number): number => {
      client.learnNonce()
      return codeOf(client.ask('refresh', [['lifetime', seconds]]))
    }
    stage.now += 500_000
    expect(refresh(a, 600)).toBe(0)
    stage.now += 500_000
    stage.relay.pollTransmit(stage.now, { to: '', bytes: new Uint8Array(1500), length: 0 })
    expect([stage.relay.allocations, b.send(a.relayed, 'aa')]).toEqual([1, undefined])
    expect([refresh(a, 0), stage.relay.allocations]).toEqual([0, 0])
  })

  test('[TURN5] (T24) forged requests end and move nothing', () => {
    const stage = new TurnStage({ areLocalExempt: true })
    const [a, b] = pair(stage)
    const real = a.request('refresh', [['lifetime', 0]])
    for (let index = 0; index < form(5000, 100_000); index++) {
      const forged = Buffer.from(real)
      const at = 8 + ((index * 7919) % (real.length - 8))
      forged[at] = forged[at]! ^ (1 + (index % 255))
      if (index % 50 === 0) stage.now += 1
      const answer = stage.give(index % 2 === 0 ? a.address : '198.51.100.66:6', forged)
      if (answer !== undefined) expect(readTurn(answer.bytes).class).toBe('error')
    }
    expect(stage.relay.allocations).toBe(2)
    expect(b.send(a.relayed, 'aa')!.to).toBe(a.address)
  })
})
