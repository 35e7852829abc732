// Measures how long the page takes to show its first result, in a browser without a cache: the median
// of ten, and the bytes sent. Arguments are the addresses to open.
import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync),
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})
for (const address of process.argv.slice(2)) {
  const times = []
  let bytes = 0
  for (let i = 0; i < 11; i++) { // the first one also warms up the browser
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    await page.addInitScript(() => {
      new MutationObserver((_, watch) => {
        if (!document.querySelector('article')) return
        watch.disconnect()
        requestAnimationFrame(() => { window.firstResult = performance.now() })
      }).observe(document, { childList: true, subtree: true })
    })
    await page.goto(address)
    await page.waitForFunction(() => window.firstResult > 0)
    const [time, sent] = await page.evaluate(() => [window.firstResult,
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce((n, e) => n + e.transferSize, 0)])
    if (i) times.push(time)
    bytes = sent
    await context.close()
  }
  times.sort((a, b) => a - b)
  console.log(`${address}: first result after ${Math.round((times[4] + times[5]) / 2)} ms (${Math.round(times[0])} to ${Math.round(times[9])}), ${bytes} bytes`)
}
await browser.close()
