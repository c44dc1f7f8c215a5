/** The button of skirmish that kills the relay: a real process, by SIGKILL. */

import { expect } from 'vitest'
import { browserTest } from './browser-test.ts'
import { begin, expectSameHash, join, openGroup, until } from './skirmish-pages.ts'

const SMALL = { viewport: { width: 640, height: 640 } }

browserTest('[SKIRM26] a killed relay: the match goes on at the second one', async (browser) => {
  const group = await openGroup()
  try {
    const mistakes: string[] = []
    const ada = await join(browser, group.url, 'Ada', mistakes, SMALL)
    const bo = await join(browser, group.url, 'Bo', mistakes, SMALL)
    await begin([ada, bo])
    await expectSameHash([ada, bo])
    await ada.click('#net')
    await ada.click('#network button:text("Kill the relay")')
    for (const page of [ada, bo]) await until(page, 'skirmish.room.isContinued')
    await expectSameHash([ada, bo])
    // Orders are executed at the second relay.
    await bo.keyboard.press('b')
    await bo.keyboard.press('q')
    await until(bo, 'skirmish.lastOrder?.name === "Train" && skirmish.lastOrder.state === "executed"')
    expect(mistakes.filter((text) => !text.includes('WebTransport') && !text.includes('net::'))).toEqual([])
  } finally {
    await group.close()
  }
})
