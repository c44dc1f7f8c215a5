/** The Worker of a page that hosts a match. */

import { runRelay } from 'tickwire/worker'

runRelay()
