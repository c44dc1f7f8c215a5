/**
 * What a game server asks its fleet: signed requests with a deadline. None of them throws.
 */

import { ConfigError } from '../core/base/assert.ts'
import { signFleetRequest } from './fleet-signature.ts'
import { requestJson } from './json-request.ts'

/** How a game server belongs to a fleet. */
export interface FleetOptions {
  /** The address of the fleet service: `http://10.0.0.2:8090`. */
  readonly url: string
  /**
   * The secret that all processes of the fleet share. Default: the environment variable TICKWIRE_FLEET_SECRET; without
   * it, all processes must be on one machine.
   */
  readonly secret?: string
  /** The address at which players reach this process. Default: where the fleet sees it, with its HTTP port. */
  readonly publicUrl?: string
  /** Where it is, such as `eu-west`. Default: empty. */
  readonly region?: string
  /** The version of the game: new players go to the newest. Default: that of the npm package, else `0`. */
  readonly version?: string
  /** Most players of this process. Default 1000. */
  readonly seats?: number
}

/** An answer of the fleet. 0: there was none. */
export interface FleetAnswer {
  readonly status: number
  readonly body: { readonly [name: string]: unknown }
}

/** How long to look for the fleet at the start. */
const SEARCH_MS = 15_000
const ASK_MS = 2000
const NO_ANSWER: FleetAnswer = { status: 0, body: {} }

/** Requests to one fleet, and to its game servers. */
export class FleetLink {
  readonly options: Required<Omit<FleetOptions, 'secret' | 'publicUrl'>> & Pick<FleetOptions, 'secret' | 'publicUrl'>
  readonly #base: string

  /** Throws ConfigError when the address is invalid. */
  constructor(given: string | FleetOptions) {
    const options = typeof given === 'string' ? { url: given } : given
    const secret = (options.secret ?? process.env['TICKWIRE_FLEET_SECRET']) || undefined
    this.options = {
      region: '', version: process.env['npm_package_version'] ?? '0', seats: 1000, ...options,
      ...(secret !== undefined && { secret }),
    }
    if (!/^https?:\/\/[^/]/.test(this.options.url))
      throw new ConfigError('fleet', `not an address (got "${this.options.url}")`, 'write http://host:8090.')
    if (secret === undefined && !/^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(this.options.url)) {
      throw new ConfigError(
        'fleet.secret', 'missing, and the fleet is on another machine', 'set TICKWIRE_FLEET_SECRET on all machines.',
      )
    }
    this.#base = this.options.url.replace(/\/$/, '')
  }

  /** The public key that the fleet signs tokens with. Throws ConfigError when the fleet does not answer for 15 s. */
  async issuer(): Promise<Uint8Array> {
    for (const until = Date.now() + SEARCH_MS; ;) {
      const { status, body: { issuer } } = await this.ask('GET', '/fleet/key')
      if (status === 200 && typeof issuer === 'string' && /^[0-9a-f]{64}$/.test(issuer))
        return Uint8Array.from(Buffer.from(issuer, 'hex'))
      if (Date.now() > until) {
        const problem = status === 0 ? 'does not answer' : `does not answer as a fleet (status ${status})`
        throw new ConfigError('fleet', `${this.options.url} ${problem}`, 'start it with "npx tickwire fleet".')
      }
      await new Promise((resolve) => { setTimeout(resolve, 250) })
    }
  }

  /** Asks the fleet service. */
  async ask(method: string, path: string, body?: object, ms: number = ASK_MS): Promise<FleetAnswer> {
    return await this.askAt(this.#base, method, path, body === undefined ? '' : JSON.stringify(body), ms)
  }

  /** Asks a process of the fleet. */
  async askAt(base: string, method: string, path: string, text: string, ms: number = ASK_MS): Promise<FleetAnswer> {
    try {
      const { status, body } = await requestJson(`${base.replace(/\/$/, '')}${path}`, {
        method, ms, text, headers: signFleetRequest(this.options.secret, path, text),
      })
      return { status, body: typeof body === 'object' && body !== null ? { ...body } : {} }
    } catch {
      // reason: no answer in time is an answer here, and the caller tries again
      return NO_ANSWER
    }
  }
}
