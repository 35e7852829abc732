// Takes the screenshots for the documentation: COLLOCATE=... node tests/screenshots.mjs
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { chromium } from 'playwright-core'

const out = new URL('../../docs/images/', import.meta.url).pathname
mkdirSync(out, { recursive: true })
const server = spawn(process.env.COLLOCATE ?? 'collocate', ['demo', '--serve', '--addr', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] })
const base = await new Promise((resolve, reject) => {
  let text = ''
  server.stderr.on('data', (data) => {
    text += data
    const found = text.match(/at (http:\/\/[0-9.:]+)\n/)
    if (found) resolve(found[1])
  })
  server.on('exit', () => reject(new Error(text)))
})
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
const pictures = {
  search: ['/?q=lipid+droplets+kill+bacteria', 'light', (page) => page.locator('article').nth(9).waitFor()],
  words: ['/words?w=membrane', 'light', (page) => page.locator('.company .network circle').first().waitFor()],
  places: ['/places?d=150&p=0.3', 'dark', async (page) => {
    await page.locator('.pattern').first().click()
    await page.locator('.shares li').first().waitFor()
    await page.waitForTimeout(1000)
  }],
}
for (const [name, [path, scheme, ready]] of Object.entries(pictures)) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 740 }, colorScheme: scheme })
  await page.goto(base + path)
  await ready(page)
  await page.screenshot({ path: `${out}page-${name}.png` })
  await page.close()
}
await browser.close()
server.kill('SIGTERM')
