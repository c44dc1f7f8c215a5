/**
 * Comparing and wiping secrets.
 *
 * The comparison reads every byte, so that its time does not reveal where two values differ. JavaScript guarantees
 * nothing about timing; a loop without a branch on the data is the best that a program can do.
 */

/** Same length, same bytes. Its time depends on the length of `a` only. */
export function isEqualConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let index = 0; index < a.length; index++) difference |= a[index] ^ b[index]
  return difference === 0
}

/** Overwrites a secret. Copies made by the JavaScript engine or a library cannot be reached. */
export function wipe(bytes: Uint8Array): void {
  bytes.fill(0)
}
