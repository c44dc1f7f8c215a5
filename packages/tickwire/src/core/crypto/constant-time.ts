/**
 * Comparing and forgetting secrets.
 *
 * The comparison touches every byte whatever it finds, so that its time says nothing about where two values part.
 * JavaScript promises nothing about time; a loop without a branch on what it reads is as far as a program can go.
 */

/** Same length, same bytes. Its time depends on the length of `a` only. */
export function isEqualConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let index = 0; index < a.length; index++) difference |= a[index] ^ b[index]
  return difference === 0
}

/** Overwrites a secret. Copies that the engine or a library made are out of reach. */
export function wipe(bytes: Uint8Array): void {
  bytes.fill(0)
}
