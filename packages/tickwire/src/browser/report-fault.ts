/** Reports errors of a page's callbacks to the browser as uncaught errors, if there is no `room.onError` listener. */

import { isWorthLogging, type CodeFault } from '../core/base/user-code.ts'

export function reportFault(fault: CodeFault): void {
  if (isWorthLogging(fault)) globalThis.reportError?.(fault.error)
}
