/**
 * Fatal errors of Tickwire.
 *
 * None of them is for bytes from the network: hostile or broken bytes never throw, they only increment a counter.
 */

/**
 * An invalid definition or option. Thrown at construction, or where a callback violates its contract.
 *
 *   connect.token: not a valid token. Fix: pass the bytes that the issuer gave, unchanged.
 *   game.tickrate: unknown option. Did you mean tickRate?
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Where the mistake is, as the user wrote it: `Player.position.x`. */
  readonly path: string

  /** `fix` is an instruction in lower case, or a question. */
  constructor(path: string, problem: string, fix: string) {
    super(`${path}: ${problem}. ${fix.endsWith('?') ? fix : `Fix: ${fix}`}`)
    this.path = path
  }
}

/** A bug in Tickwire: a state that should be impossible. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Always enabled. Use outside hot loops; the message says which invariant failed, not what the code did. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}
