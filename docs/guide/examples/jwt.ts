import { createHmac, timingSafeEqual } from 'node:crypto'
import { bool, defineGame, entity, fixed, text } from 'tickwire'
import { serveRooms, type ServingRooms } from 'tickwire/node'

// #region game
export const Player = entity({ x: fixed(0, 640, 0.1), name: text(16) })

export const game = defineGame({
  tickRate: 30,
  input: { right: bool },
  join: { name: text(16), jwt: text(900) },
  entities: [Player],
  onJoin: (world, peer, { name }) => world.spawn(Player, { name }, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) player.x += +inputs.of(player.owner).right * 6
  },
})
// #endregion

// #region verify
interface Claims {
  readonly sub: string
  /** Seconds since 1970. */
  readonly exp: number
}

/** The claims of a JSON web token signed with HS256. Undefined if it is not valid now. Never throws. */
export function verifyJwt(jwt: string, secret: string): Claims | undefined {
  const [head = '', body = '', signature = ''] = jwt.split('.')
  const expected = createHmac('sha256', secret).update(`${head}.${body}`).digest()
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
  // Only a token of our own service gets here, so its JSON is ours.
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims
  return claims.exp * 1000 > Date.now() ? claims : undefined
}
// #endregion

// #region serve
export async function start(secret: string, port: number): Promise<ServingRooms> {
  return await serveRooms({
    ranked: {
      game,
      onAuth: ({ data }) => verifyJwt(data.jwt, secret)?.sub ?? false,
      onJoin: (room, { id, user, data }) => console.log(`${room.id}: player ${id} is account ${user}, ${data.name}`),
      onCreate: (room) => void room.addBot(() => ({ right: true })),
    },
  }, { port })
}
// #endregion

// #region sign
/** What your login service does. Any library for JSON web tokens does the same. */
export function signJwt(claims: Claims, secret: string): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}
// #endregion
