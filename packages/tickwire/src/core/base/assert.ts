/**
 * The three ways Tickwire says "this cannot go on".
 *
 * None of them is for bytes from the network: hostile or broken bytes never throw, they cost one counter.
 */

/** A wrong definition or option. Thrown at construction only; names the path and the fix. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Where the mistake is, as the user wrote it: `Player.position.x`. */
  readonly path: string

  constructor(path: string, problem: string, fix: string) {
    super(`${path}: ${problem}. ${fix}`)
    this.path = path
  }
}

/** A bug of our own: a state that the code proves impossible. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Always on. Use outside hot loops; the message says which invariant broke, not what the code did. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}
