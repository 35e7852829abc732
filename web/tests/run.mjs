// Tests the page in a real browser: every view, wide and narrow, light and dark, and states that are
// rarely seen. COLLOCATE is the command, CHROMIUM the browser. Without a browser the tests are skipped
// with a message, or fail if CI is set. Arguments select the tests whose names contain one of them.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { chromium } from 'playwright-core'

const command = process.env.COLLOCATE ?? 'collocate'
const browserPath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
if (!browserPath) {
  console.log('no chromium: the tests of the page are left out (Debian: apt-get install chromium)')
  process.exit(process.env.CI ? 1 : 0)
}
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** brokenNumbers runs in a page and returns the numbers that a line end divides, but those in names of chemicals and the like. */
function brokenNumbers() {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const range = document.createRange(), found = []
  for (let n = 0; n < 5000 && texts.nextNode(); n++) {
    const node = texts.currentNode
    if (node.parentElement.closest('pre, script, .visually-hidden') || !node.parentElement.checkVisibility()) continue
    for (const m of node.data.matchAll(/(?<![\w(-])(\d{1,3}(,\d{3})+|\d{2,})(\.\d+)?(?![\w)-])/g)) {
      range.setStart(node, m.index)
      range.setEnd(node, m.index + m[0].length)
      if (new Set([...range.getClientRects()].map((r) => Math.round(r.top / 4))).size > 1) found.push(m[0])
    }
  }
  return found
}

/** start runs a server until stop, and resolves to its address. */
function start(args) {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'pipe'] })
  const address = new Promise((resolve, reject) => {
    let text = ''
    child.stderr.on('data', (data) => {
      text += data
      const found = text.match(/at (http:\/\/[0-9.:]+)\n/)
      if (found) resolve(found[1])
    })
    child.on('exit', (code) => reject(new Error(`${command} ${args.join(' ')}: exit ${code}: ${text}`)))
    child.on('error', reject)
  })
  return { address, stop: () => child.kill('SIGTERM') }
}

/** behind runs a proxy that adds a path before a server, and resolves to its address. */
function behind(base, path) {
  const proxy = createServer((from, to) => {
    if (!from.url.startsWith(path)) {
      to.writeHead(404).end()
      return
    }
    const { host, ...headers } = from.headers
    from.pipe(request(base + from.url.slice(path.length - 1), { method: from.method, headers }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers)
      answer.pipe(to)
    }))
  })
  return new Promise((resolve) => proxy.listen(0, '127.0.0.1', () => {
    resolve({ address: `http://127.0.0.1:${proxy.address().port}${path}`, stop: () => proxy.close() })
  }))
}

let failures = 0, tests = 0
function check(ok, what) {
  if (!ok) {
    failures++
    console.error('FAIL ' + what)
  }
}

const dir = mkdtempSync(join(tmpdir(), 'collocate-page-'))
const full = start(['demo', '--serve', '--dir', dir, '--addr', '127.0.0.1:0'])
let planar, encoder, encoded, guarded, meant, meantRoot, meantShard, bare, films, stories_, changing, fresh, odd, two, none, shard, root, proxy
let browser
try {
  const base = await full.address
  bare = start(['serve', join(dir, 'elife.index'), '--addr', '127.0.0.1:0'])
  const bareBase = await bare.address
  writeFileSync(join(dir, 'films.csv'), `id,title,plot,genre,year,seen,where
f1,The Heist,Thieves plan a heist in Berlin,crime|drama,1995,2020-05-01,"52.5,13.4"
f2,Night Train,A heist goes wrong on a train,crime,2003,2021-02-03,"48.1,11.6"
f3,Two Roads,"A <b>comedy</b> about a heist, and love",comedy|drama,1999,,
f4,Silent Sea,Nobody steals anything,drama,2011,2021-07-09,
`)
  execFileSync(command, ['index', 'films.csv', '--fields', 'title:text,plot:text,genre:keyword:split=|,year:number,seen:date',
    '--positions', '--out', 'films.index'], { cwd: dir, stdio: 'ignore' })
  films = start(['serve', join(dir, 'films.index'), '--addr', '127.0.0.1:0'])
  const filmsBase = await films.address
  // Two documents with the same ID, and a word that is its own neighbour.
  writeFileSync(join(dir, 'odd.csv'), 'id,text\na,row your boat and row\na,boat by boat\nb,row row row your boat\n')
  execFileSync(command, ['index', 'odd.csv', '--allow-duplicate-ids', '--store-text', '--out', 'odd.index'], { cwd: dir, stdio: 'ignore' })
  execFileSync(command, ['cooccur', 'odd.csv', '--symmetric', '--out', 'odd.cooc'], { cwd: dir, stdio: 'ignore' })
  execFileSync(command, ['index', 'films.csv', '--fields', 'title:text,plot:text,genre:keyword:split=|,year:number,seen:date,place:geo:from=where',
    '--positions', '--store-text', '--out', 'stories.index'], { cwd: dir, stdio: 'ignore' })
  stories_ = start(['serve', 'films=' + join(dir, 'stories.index'), '--addr', '127.0.0.1:0'])
  const storiesBase = await stories_.address
  // Vectors on a circle: 20 documents, of which one has none, and only every third has the word moon.
  writeFileSync(join(dir, 'meant.jsonl'), Array.from({ length: 20 }, (_, i) => JSON.stringify({
    id: `m${i}`, title: `Text ${i}`, text: i % 3 ? 'some words' : 'the moon and words', kind: i % 2 ? 'odd' : 'even',
    ...(i < 10 ? {} : { w: { sea: i, '##s': 1 } }),
    ...(i === 19 ? {} : { v: [Math.cos(i / 6), Math.sin(i / 6), 0] }),
  })).join('\n') + '\n')
  execFileSync(command, ['index', 'meant.jsonl', '--fields', 'title:text,text:text,kind:keyword,v:vector:3:optional,w:sparse', '--store-text', '--out', 'meant.index'], { cwd: dir, stdio: 'ignore' })
  encoder = createServer((from, to) => {
    let body = ''
    from.on('data', (d) => (body += d)).on('end', () => to.end(JSON.stringify(JSON.parse(body).input.map((t) => (t.includes('late') ? [-1, 0.05, 0] : [1, 0, 0])))))
  })
  await new Promise((go) => encoder.listen(0, '127.0.0.1', go))
  encoded = start(['serve', join(dir, 'meant.index'), '--encoder', `http://127.0.0.1:${encoder.address().port}`, '--addr', '127.0.0.1:0'])
  const encodedBase = await encoded.address
  mkdirSync(join(dir, 'guarded'))
  writeFileSync(join(dir, 'tokens'), 'read reads reader\nwrite writes writer\n')
  guarded = start(['serve', '--indexes', join(dir, 'guarded'), '--writable', '--deletable', '--token-file', join(dir, 'tokens'), '--addr', '127.0.0.1:0'])
  const guardedBase = await guarded.address
  meant = start(['serve', join(dir, 'meant.index'), '--addr', '127.0.0.1:0'])
  const meantBase = await meant.address
  execFileSync(command, ['shard', 'meant.index', '1', '--out', 'meant.shards'], { cwd: dir, stdio: 'ignore' })
  meantShard = start(['serve', join(dir, 'meant.shards', '0'), '--addr', '127.0.0.1:0'])
  meantRoot = start(['serve', '--root', '--shards', await meantShard.address, '--addr', '127.0.0.1:0'])
  const meantRootBase = await meantRoot.address
  mkdirSync(join(dir, 'indexes'))
  execFileSync(command, ['index', 'odd.csv', '--allow-duplicate-ids', '--store-text', '--out', 'changing.index'], { cwd: dir, stdio: 'ignore' })
  changing = start(['serve', join(dir, 'changing.index'), '--indexes', join(dir, 'indexes'), '--writable', '--addr', '127.0.0.1:0'])
  const changingBase = await changing.address
  mkdirSync(join(dir, 'nothing'))
  fresh = start(['serve', '--indexes', join(dir, 'nothing'), '--writable', '--addr', '127.0.0.1:0'])
  const freshBase = await fresh.address
  odd = start(['serve', join(dir, 'odd.index'), '--matrix', join(dir, 'odd.cooc'), '--addr', '127.0.0.1:0'])
  const oddBase = await odd.address
  two = start(['serve', join(dir, 'films.index'), 'odd ones=' + join(dir, 'odd.index'), '--addr', '127.0.0.1:0'])
  const twoBase = await two.address
  none = start(['serve', '--points', join(dir, 'places-dc.csv.zst'), '--geographic', '--skip-bad', '--addr', '127.0.0.1:0'])
  const noneBase = await none.address
  // A town in plane coordinates, of a system in metres: 60 pairs 30 m apart, and 20 that are alone.
  writeFileSync(join(dir, 'plane.csv'), 'x,y,feature\n' + Array.from({ length: 60 }, (_, i) => {
    const [x, y] = [691000 + 300 * (i % 10), 5334000 + 300 * Math.floor(i / 10)]
    return `${x},${y},cafe\n${x + 30},${y},bank\n` + (i % 3 ? '' : `${x + 150},${y + 150},pub\n`)
  }).join(''))
  planar = start(['serve', join(dir, 'films.index'), '--points', join(dir, 'plane.csv'), '--crs', 'EPSG:25832', '--addr', '127.0.0.1:0'])
  const planarBase = await planar.address
  // A root over two shards, of which one has no server.
  execFileSync(command, ['shard', 'elife.index', '2', '--out', 'elife.shards'], { cwd: dir, stdio: 'ignore' })
  shard = start(['serve', join(dir, 'elife.shards', '1'), '--addr', '127.0.0.1:0'])
  root = start(['serve', '--root', '--shards', 'http://127.0.0.1:1,' + await shard.address, '--addr', '127.0.0.1:0'])
  const rootBase = await root.address
  browser = await chromium.launch({
    executablePath: browserPath,
    args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  })

  /** look has its turn when one of two pages before it is done: a page keeps one core busy. */
  const turns = [Promise.resolve(), Promise.resolve()]
  let looks = 0
  function look(...args) {
    const turn = looks++ % turns.length
    turns[turn] = turns[turn].then(() => lookAt(...args))
  }

  /** lookAt opens a page, does something with it, and checks what must hold of every page. */
  async function lookAt(name, address, does, { width = 1440, quiet = true, schemes, before } = {}) {
    if (process.argv.length > 2 && !process.argv.slice(2).some((part) => name.includes(part))) return
    tests++
    const began = Date.now()
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: 'light', bypassCSP: false })
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    const errors = []
    page.on('console', (m) => { if ((m.type() === 'error' || m.type() === 'warning') && !/status of 429/.test(m.text())) errors.push(m.text()) })
    page.on('pageerror', (e) => errors.push(e.message))
    page.on('request', (r) => {
      const at = new URL(r.url())
      if (at.origin !== new URL(address).origin && at.protocol !== 'data:' && at.protocol !== 'blob:') errors.push('asks ' + r.url())
    })
    try {
      if (before) await before(page)
      await page.goto(address)
      await does(page)
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      check(over <= 0, `${name}: ${over} pixels too wide`)
      const broken = await page.evaluate(brokenNumbers)
      check(!broken.length, `${name}: numbers on two lines: ${broken.slice(0, 5)}`)
      if (quiet) check(errors.length === 0, `${name}: ${errors.join('; ')}`)
      // axe is injected through the debugging protocol, as the page's CSP would block a script.
      const session = await context.newCDPSession(page)
      await session.send('Runtime.evaluate', { expression: axe })
      for (const media of schemes ? [{}, { colorScheme: 'dark' }, { colorScheme: 'dark', forcedColors: 'active' }, { forcedColors: 'active' }] : [{}]) {
        if (schemes) await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', ...media })
        const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }))
        for (const v of found.violations) check(false, `${name} ${Object.values(media)}: axe: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.target).slice(0, 3).join(', ')}`)
      }
    } catch (e) {
      check(false, `${name}: ${e.message.split('\n').slice(0, 4).join(' ')}`)
    }
    await context.close()
    console.log(`${name} (${Date.now() - began} ms)`)
  }

  const views = {
    search: ['/?q=lipid+droplets+kill+bacteria', async (page) => {
      await page.locator('article').nth(9).waitFor()
      check((await page.locator('article mark').count()) > 10, 'search: words are marked')
    }],
    words: ['/words?w=membrane', async (page) => {
      await page.getByRole('link', { name: /^plasma/ }).first().waitFor()
      await page.locator('.company .network circle').first().waitFor()
      const words = page.viewportSize().width < 480 ? 13 : 25
      check((await page.locator('.company .network circle').count()) === words, `words: the network has ${words} words`)
    }],
    places: ['/places', async (page) => {
      await page.locator('.pattern').first().waitFor()
      await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) > 1000)
    }],
    about: ['/about', async (page) => { await page.getByText('3,675').first().waitFor() }],
  }
  Object.assign(views, {
    lines: ['/lines?q=membrane&columns=1', async (page) => {
      await page.locator('.concordance mark').nth(20).waitFor()
      const inView = await page.locator('.concordance td mark').first().evaluate((m) => { const r = m.getBoundingClientRect(); return r.left > 0 && r.right < innerWidth })
      check(inView, 'lines: the matches are in view')
    }],
    table: ['/table?q=membrane', async (page) => { await page.locator('tbody tr').nth(20).waitFor() }],
    'map of documents': [storiesBase + '/places?colour=genre', async (page) => { await page.locator('.key').waitFor() }],
    'facets and filters': [storiesBase + '/?f=genre%3Acrime', async (page) => { await page.getByText('The first 2 of 2').waitFor() }],
    'two sets': [storiesBase + '/words?here=genre%3Acrime&there=genre%3Acomedy', async (page) => { await page.getByText(/^2 documents with/).waitFor() }],
    reader: [storiesBase + '/?q=heist&doc=f1', async (page) => { await page.getByRole('dialog').locator('mark').first().waitFor() }],
    'export open': [storiesBase + '/table', async (page) => { await page.getByText('Export').click() }],
    'adding data': [changingBase + '/', async (page) => {
      await page.getByRole('button', { name: '+ Add data' }).click()
      await page.locator('input[type=file]').setInputFiles({ name: 'b.csv', mimeType: 'text/csv', buffer: Buffer.from('id,title,year\nb1,The Sea,1978\n') })
      await page.getByText('1 document with the columns below').waitFor()
    }],
  })
  // Each is looked at in the light, in the dark and in forced colours.
  for (const [name, [path, does]] of Object.entries(views)) {
    for (const width of [390, 1440]) look(`${name} ${width}`, new URL(path, base).href, does, { width, schemes: true })
  }
  for (const name of ['search', 'words', 'places', 'about']) look(`${name} 320`, base + views[name][0], views[name][1], { width: 320 })

  proxy = await behind(base, '/search/')
  look('behind a proxy that adds a path', proxy.address, async (page) => {
    await page.getByText('3,675 documents with').waitFor()
    await page.getByLabel('Words to search for').fill('membrane')
    await page.locator('article').nth(9).waitFor()
    await page.waitForURL(proxy.address + '?q=membrane*')
    await page.getByRole('link', { name: 'Words', exact: true }).click()
    await page.waitForURL(proxy.address + 'words?q=membrane')
    await page.goto(proxy.address + 'words?w=membrane')
    await page.getByRole('link', { name: /^plasma/ }).first().click()
    await page.waitForURL(proxy.address + 'words?q=plasma*')
    await page.getByRole('link', { name: 'Lines', exact: true }).click()
    await page.locator('.concordance mark').first().waitFor()
    await page.goto(proxy.address + 'places')
    await page.locator('.pattern').first().waitFor()
    await page.getByRole('link', { name: 'Collocate, home' }).click()
    await page.waitForURL(proxy.address)
    await page.goto(proxy.address + 'about')
    await page.getByText('3,675').first().waitFor()
  })
  look('a root, one shard away', rootBase + '/', async (page) => {
    await page.getByText('3,675 documents in 2 shards').waitFor()
    await page.goto(rootBase + '/?q=lipid+droplets')
    await page.getByText(/^Incomplete: 1 of 2 shards answered, with 1,838 of 3,675 documents/).waitFor()
    await page.locator('article').nth(9).waitFor()
    check((await page.getByRole('alert').count()) === 1, 'root: nothing else is wrong')
    await page.goto(rootBase + '/about')
    await page.getByText('http://127.0.0.1:1: connect: connection refused').waitFor()
  })
  look('empty search', base + '/', async (page) => {
    await page.getByText('3,675 documents with').waitFor()
    await page.locator('article').nth(9).waitFor()
    await page.getByText('Try').first().waitFor()
  })
  look('typing, results, keyboard', base + '/', async (page) => {
    await page.getByText('3,675 documents with').waitFor()
    await page.keyboard.press('/')
    // Wait for the answer to the whole query: it replaces earlier results, also one with the focus.
    const answered = page.waitForResponse((r) => /v1\/search\?.*q=zebrafish(\+|%20)embryos/.test(r.url()))
    await page.keyboard.type('zebrafish embryos')
    await page.waitForURL(/q=zebrafish\+embryos/)
    await answered
    await page.locator('.summary:not(.busy)').waitFor()
    await page.locator('article').first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    const second = await page.locator('.title').nth(1).innerText()
    check((await page.evaluate(() => document.activeElement?.textContent)) === second, 'the arrow leads to the second result')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText(/words, document number/).waitFor()
    check((await page.getByRole('dialog').getByRole('heading').innerText()) === second, 'the document is read')
    await page.keyboard.press('Escape')
    check((await page.getByRole('dialog').count()) === 0, 'Escape closes it')
  })
  look('documents with the same ID', oddBase + '/?q=boat', async (page) => {
    await page.getByText('The best 3 of 3').waitFor()
    check((await page.locator('article').count()) === 3, 'all three are listed')
  })
  look('a word beside itself', oddBase + '/words?w=row&min=0', async (page) => {
    await page.locator('.network circle').first().waitFor()
    await page.getByRole('rowheader', { name: 'row', exact: true }).waitFor()
  })
  look('colours of words', oddBase + '/?q=your+row+by', async (page) => {
    await page.locator('article').nth(2).waitFor()
    // The second document only has the third word, whose bar keeps the third colour.
    const bars = await page.locator('article').evaluateAll((all) => all.map((a) => [...a.querySelectorAll('.part')].map((p) => p.className + p.title.split(' ')[0]).join()))
    check(bars.some((b) => b.includes('c2by')), 'a word keeps its colour: ' + bars.join(' | '))
    check((await page.locator('.key').innerText()).includes('by'), 'the colours are explained')
  })
  look('facets on a phone', filmsBase + '/?q=heist', async (page) => {
    await page.getByText('Narrow down').click()
    await page.getByRole('button', { name: 'crime', exact: true }).click()
    await page.getByText('The best 2 of 2').waitFor()
  }, { width: 320 })
  look('a view that fails', base + '/words?w=membrane', async (page) => {
    await page.getByRole('alert').getByText('This view cannot be shown').waitFor()
  }, { quiet: false, before: (page) => page.route('**/company*', (r) => r.fulfill({ json: { word: 'membrane' } })) })
  look('nothing found', base + '/?q=zzzz', async (page) => { await page.getByText('Nothing found for “zzzz”').waitFor() })
  look('many results', base + '/?q=cell', async (page) => {
    await page.getByRole('button', { name: 'Next' }).click()
    await page.waitForURL(/start=10/)
    await page.getByText('11–20').waitFor()
    await page.goBack()
    await page.getByText('The best 10').waitFor()
  })
  look('a wrong query', base + '/?q=cell&model=bm42', async (page) => { await page.getByRole('alert').getByText(/bm42/).waitFor() }, { quiet: false })
  look('a slow server', base + '/?q=cell', async (page) => {
    await page.getByText('Searching').waitFor()
    await page.locator('article').first().waitFor()
  }, { before: (page) => page.route('**/v1/search*', async (r) => { await new Promise((go) => setTimeout(go, 700)); await r.continue() }) })
  look('a server that fails', base + '/?q=cell', async (page) => { await page.getByRole('alert').getByText('it broke').waitFor() }, {
    quiet: false, before: (page) => page.route('**/v1/search*', (r) => r.fulfill({ status: 500, json: { error: 'it broke' } })),
  })
  look('a busy server', base + '/?q=cell', async (page) => { await page.locator('article').first().waitFor() }, {
    quiet: false,
    before: (page) => {
      let times = 0
      return page.route('**/v1/search*', (r) => (times++ ? r.continue() : r.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json: { error: 'busy' } })))
    },
  })
  look('no server', base + '/', async (page) => { await page.getByRole('button', { name: 'Try again' }).waitFor() }, {
    quiet: false, before: (page) => page.route('**/v1/status', (r) => r.abort()),
  })
  look('explanation and engines', base + '/?q=lipid+droplets', async (page) => {
    await page.locator('details.explain summary').first().click()
    await page.locator('details[open] th', { hasText: 'droplet' }).waitFor()
    // The panel shows the numbers of the formula as the API has them.
    const { hits } = await (await fetch(base + '/v1/search?q=lipid+droplets&explain=1&k=1')).json()
    const { documents, mean_length: mean, words } = hits[0].explain
    check(documents > 0 && mean > 0 && words.every((w) => w.idf > 0), 'an explanation has documents, mean_length and idf')
    const panel = await page.locator('details[open]').first().innerText()
    check(panel.includes(`The index has ${documents.toLocaleString('en')} documents`), 'the explanation has the number of documents: ' + panel)
    check(panel.includes('words long on average'), 'the explanation has the mean length: ' + panel)
    for (const w of words) check(panel.includes(w.idf.toFixed(3)), `the explanation has the IDF of ${w.word}: ` + panel)
    await page.getByText('How this search was done').click()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('Fastest of three runs').waitFor()
    await page.waitForFunction(() => !document.querySelector('.inside table')?.textContent?.includes('…'))
  })
  look('HTML in a query', base + '/?q=' + encodeURIComponent('<img src=x onerror=alert(1)>'), async (page) => {
    await page.getByRole('status').filter({ hasText: /found/ }).waitFor()
    check((await page.locator('main img').count()) === 0, 'a query is no HTML')
  })
  look('two words', base + '/words?w=membrane&with=neurons', async (page) => { await page.getByRole('heading', { name: 'Only neurons' }).waitFor() })
  look('fields, facets and filters', filmsBase + '/?q=heist', async (page) => {
    await page.getByText('The best 3 of 3').waitFor()
    await page.getByRole('link', { name: 'The Heist' }).waitFor()
    await page.getByText('genre: comedy, drama').waitFor()
    await page.getByRole('button', { name: 'crime', exact: true }).click()
    await page.getByText('The best 2 of 2').waitFor()
    await page.getByLabel('Order').selectOption('year:desc')
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Night Train')
    await page.getByText('The first 2 of 2').waitFor()
    await page.getByRole('button', { name: /Remove the filter/ }).click()
    await page.getByText('The first 3 of 3').waitFor()
  })
  // Equal selections: what the documents' view counts, the other views read.
  const stories = storiesBase
  look('lines of a selection', stories + '/?q=heist', async (page) => {
    await page.getByText('The best 3 of 3').waitFor()
    await page.getByRole('button', { name: 'crime', exact: true }).click()
    await page.getByText('The best 2 of 2').waitFor()
    await page.getByRole('link', { name: 'Lines', exact: true }).click()
    await page.getByText('1–3 of 3 lines, in 2 documents').waitFor()
    await page.getByLabel('order by').selectOption('L1,L2,L3')
    await page.waitForURL(/order=L1/)
    await page.getByLabel('with', { exact: true }).fill('train')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByText('1–1 of 1 line, in 1 document').waitFor()
    await page.getByRole('link', { name: 'f2' }).click()
    await page.getByRole('dialog').getByRole('heading', { name: 'Night Train' }).waitFor()
    await page.goBack()
    await page.getByText('1–1 of 1 line, in 1 document').waitFor()
    check((await page.getByRole('dialog').count()) === 0, 'Back closes the document')
    await page.reload()
    await page.getByText('1–1 of 1 line, in 1 document').waitFor()
  })
  look('lines in columns, page by page', base + '/lines?q=membrane', async (page) => {
    const summary = page.getByText(/^1–100 of [\d,]+ lines, in [\d,]+ documents$/)
    await summary.waitFor()
    const total = Number((await summary.innerText()).match(/of ([\d,]+)/)[1].replaceAll(',', ''))
    await page.getByRole('button', { name: 'L3 to R3 in columns' }).click()
    await page.getByRole('button', { name: 'L1', exact: true }).click()
    await page.waitForURL(/order=L1%2CL2%2CL3/)
    await page.getByRole('columnheader', { name: 'L1' }).and(page.locator('[aria-sort=ascending]')).waitFor()
    const words = (await page.locator('tbody tr td:nth-child(5)').allInnerTexts()).map((w) => w.toLowerCase().replace(/[^a-z0-9]/g, ''))
    check(words.length === 100 && words.filter((w, i) => i && w >= words[i - 1]).length > 90, 'the lines are in the order of L1: ' + words.slice(0, 9))
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText(/^101–200 of /).waitFor()
    await page.locator('.match a').nth(3).click()
    await page.getByRole('dialog').locator('mark.here').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Export').click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
    const rows = readFileSync(await file.path(), 'utf8').trim().split('\n')
    check(rows.length === total + 1 && new Set(rows).size > 0.95 * total, `all ${total} lines are saved: ${rows.length - 1}`)
  })
  look('a Parquet file', stories + '/table', async (page) => {
    await page.getByText('1–4 of 4 documents').waitFor()
    await page.getByText('Export').click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Parquet' }).click()])
    const bytes = readFileSync(await file.path())
    const rows = await parquetReadObjects({ file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) })
    check(rows.length === 4 && rows[0].id === 'f1' && rows[0]['fields.year'] === 1995 && rows[0]['fields.genre'] === 'crime; drama', 'rows of Parquet: ' + JSON.stringify(rows[0], (_, v) => typeof v === 'bigint' ? Number(v) : v))
  })
  look('sets of documents by chips', stories + '/words', async (page) => {
    await page.getByLabel('Add a value: Documents for').selectOption('genre:"crime"')
    await page.getByText(/^2 documents with .* words for “genre:"crime"”, compared with\s+2 documents/).waitFor()
    await page.getByLabel('Add a value: Compared with').selectOption('genre:"comedy"')
    await page.getByText(/compared with\s+1 documents with .* words for “genre:"comedy"”/).waitFor()
    await page.getByLabel('Add a value: Compared with').selectOption('genre:"drama"')
    await page.getByText(/compared with\s+2 documents with .*drama/).waitFor()
    await page.getByRole('button', { name: 'Swap' }).click()
    await page.getByText(/^3 documents with .* compared with\s+1 documents/).waitFor()
    await page.reload()
    await page.getByRole('region', { name: 'Compared with' }).getByRole('button', { name: /^Remove/ }).click()
    await page.getByText(/, all others\.$/).waitFor()
  })
  look('the time of documents on a map', stories + '/places', async (page) => {
    const drawn = (n) => page.waitForFunction((n) => Number(document.querySelector('.map')?.dataset.drawn) === n, n)
    await drawn(2)
    await page.getByLabel('to', { exact: true }).fill('100')
    await drawn(1)
    await page.getByLabel('to', { exact: true }).fill('200')
    await drawn(2)
    // The points are in opposite corners.
    const box = await page.locator('.map').boundingBox()
    const zoom = await page.locator('.map').getAttribute('data-corner')
    const [x, y] = zoom.split(',').map(Number)
    await page.mouse.move(box.x + x, box.y + y)
    await page.locator('.tip', { hasText: 'The Heist' }).waitFor()
    await page.getByLabel('colours of').selectOption('genre')
    await page.locator('.key', { hasText: 'crime' }).waitFor()
    await drawn(2)
    await page.locator('.map').click({ position: { x, y } })
    await page.getByRole('dialog').getByRole('heading', { name: 'The Heist' }).waitFor()
  })
  look('cancelling a map', stories + '/places', async (page) => {
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('alert').getByText('Cancelled.').waitFor()
    await page.unroute('**/v1/search?*k=20000*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('2 of 2 documents with a position in place').waitFor()
    check((await page.getByRole('alert').count()) === 0, 'no error is left')
  }, { quiet: false, before: (page) => page.route('**/v1/search?*k=20000*', () => { /* no answer */ }) })
  look('one word is misspelt', stories + '/?q=heist+trian', async (page) => {
    await page.getByText('The best 3 of 3').waitFor()
    await page.getByRole('button', { name: 'train', exact: true }).click()
    await page.waitForURL(/q=heist\+train/)
  })
  look('the network comes back', stories + '/lines?q=heist', async (page) => {
    await page.getByRole('alert').getByText('The server does not respond').waitFor()
    await page.unroute('**/v1/concordance*')
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await page.getByText('1–4 of 4 lines').waitFor()
    check((await page.getByRole('alert').count()) === 0, 'no error is left')
  }, { quiet: false, before: (page) => page.route('**/v1/concordance*', (r) => r.abort()) })
  look('a long question is a job', stories + '/words', async (page) => {
    await page.getByText(/^This takes longer/).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('alert').getByText('Cancelled.').waitFor()
    await page.unroute('**/v1/jobs/*/events')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('rowheader', { name: 'train', exact: true }).waitFor()
    check((await page.getByRole('alert').count()) === 0, 'the job has the answer')
  }, {
    quiet: false,
    before: async (page) => {
      await page.route('**/v1/wordlist*', (r) => r.fulfill({ status: 503, json: { error: 'the request took too long' } }))
      await page.route('**/v1/jobs/*/events', () => { /* no answer */ })
    },
  })
  look('Back leads to the search before', stories + '/', async (page) => {
    const field = page.getByLabel('Words to search for')
    for (const q of ['heist', 'train', 'love']) {
      await field.pressSequentially(q, { delay: 200 })
      await field.press('Enter')
      await page.waitForURL(new RegExp('q=' + q + '$'))
      await page.locator('article').first().waitFor()
      await field.selectText()
    }
    await page.goBack()
    await page.waitForURL(/q=train$/)
    await page.getByText('The best 1 of 1').waitFor()
    check((await field.inputValue()) === 'train', 'the field has the search before')
    await page.goBack()
    await page.waitForURL(/q=heist$/)
  })
  look('a page beyond the last that can be reached', bareBase + '/?q=cells&start=5000', async (page) => {
    await page.getByText(/^991–1,000 of/).waitFor()
  })
  look('values of a field are alternatives', stories + '/', async (page) => {
    await page.getByRole('button', { name: 'crime', exact: true }).click()
    await page.getByText('The first 2 of 2').waitFor()
    await page.getByRole('button', { name: 'comedy', exact: true }).click()
    await page.getByText('The first 3 of 3').waitFor()
    await page.getByLabel('year from').fill('2000')
    await page.getByRole('button', { name: 'Only these' }).first().click()
    await page.getByText('The first 1 of 1').waitFor()
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.getByText('films has 4 documents').waitFor()
    await page.getByRole('button', { name: /^year .*, 1 document$/ }).first().click()
    await page.getByText('The first 1 of 1').waitFor()
  })
  look('a document has an address', stories + '/?q=heist', async (page) => {
    await page.getByRole('link', { name: 'Two Roads' }).click()
    const reader = page.getByRole('dialog')
    await reader.getByRole('heading', { name: 'Two Roads' }).waitFor()
    await page.waitForURL(/doc=f3/)
    await reader.locator('mark', { hasText: 'heist' }).waitFor()
    check((await reader.locator('b').count()) === 0, 'HTML in a document is text')
    await page.reload()
    await reader.getByRole('heading', { name: 'Two Roads' }).waitFor()
    await reader.getByRole('button', { name: /The (next result|result before)/ }).first().click()
    await page.waitForURL(/doc=f[12]/)
    await reader.getByRole('button', { name: 'Similar documents' }).click()
    await reader.getByText(/By the words that distinguish|None has its words/).waitFor()
  })
  look('a table with columns', stories + '/table', async (page) => {
    await page.getByText('1–4 of 4 documents').waitFor()
    await page.getByRole('button', { name: 'year', exact: true }).click()
    await page.waitForFunction(() => document.querySelector('tbody th')?.textContent === 'f1')
    await page.getByRole('button', { name: 'year ↑' }).click()
    await page.waitForFunction(() => document.querySelector('tbody th')?.textContent === 'f4')
    await page.getByText('Columns').click()
    await page.getByLabel('plot').uncheck()
    await page.waitForFunction(() => !document.querySelector('thead').textContent.includes('plot'))
    await page.getByText('Export').click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
    const rows = readFileSync(await file.path(), 'utf8').trim().split('\n')
    check(rows.length === 5 && rows[0].includes('fields.year'), 'the file has all rows: ' + rows[0])
    check(/--sort year:desc/.test(await page.locator('.export pre').first().innerText()), 'the command sorts, too')
  })
  look('documents on a map', stories + '/places', async (page) => {
    await page.getByText('2 of 2 documents with a position in place').waitFor()
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) === 2)
    await page.getByRole('button', { name: 'Only this part of the map' }).click()
    await page.waitForURL(/f=place/)
    await page.getByText('2 of 2 documents with a position in place').waitFor()
    await page.getByText('Export').click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'GeoJSON' }).click()])
    const saved = JSON.parse(readFileSync(await file.path(), 'utf8'))
    check(saved.features.length === 2 && saved.features.every((f) => f.geometry.type === 'Point' && f.id), 'the documents as GeoJSON')
  })
  look('a run file', stories + '/?q=heist', async (page) => {
    await page.getByText('The best 3 of 3').waitFor()
    await page.getByText('Export').click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'TREC run' }).click()])
    const lines = readFileSync(await file.path(), 'utf8').trim().split('\n')
    check(lines.length === 3 && lines.every((l, i) => new RegExp(`^1 Q0 \\S+ ${i + 1} [0-9.]+ collocate$`).test(l)), 'a run: ' + lines[0])
  })
  look('what is near a document in meaning', meantBase + '/?q=moon', async (page) => {
    await page.getByText('The best 7 of 7').waitFor()
    await page.getByLabel('Rank by', { exact: true }).selectOption('meaning')
    await page.getByText('This page has no model, so it cannot make one of your words').waitFor()
    await page.getByRole('link', { name: 'Text 6', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Nearest in meaning' }).click()
    await page.waitForURL(/rank=meaning.*like=m6/)
    await page.getByText('The nearest 10 of 19').waitFor()
    const titles = await page.locator('.title').allInnerTexts()
    check(titles[0] === 'Text 6' && titles.slice(1, 3).sort().join() === 'Text 5,Text 7', 'the nearest on the circle: ' + titles)
    await page.getByText('cosine 0.986').first().waitFor() // of 1/6 of a radian
    await page.getByText('The words in the search field do not count').waitFor()
    await page.getByRole('button', { name: 'Count both' }).click()
    await page.waitForURL(/rank=both/)
    await page.getByText(/words 0\.\d+ \([\d.]+ × [\d.]+\)/).first().waitFor()
    await page.getByText('meaning 1.000 (1.00 × 1.00)').waitFor()
    check((await page.locator('.title').allInnerTexts()).slice(0, 3).join() === 'Text 6,Text 3,Text 9', 'both: near, and with the word: ' + await page.locator('.title').allInnerTexts())
    await page.getByRole('button', { name: 'even', exact: true }).click()
    await page.getByText('The nearest 10 of 10').waitFor()
    await page.getByLabel('How words and meaning are added').selectOption('rrf')
    await page.getByText(/meaning 0\.0164 \(rank 1\)/).waitFor()
    await page.getByText('not among the best').first().waitFor()
    await page.reload()
    await page.getByText(/meaning 0\.0164 \(rank 1\)/).waitFor()
    await page.getByLabel('Weight of meaning').fill('90')
    await page.waitForURL(/share=90/)
    await page.getByText(/meaning 0\.0295 \(rank 1\)/).waitFor()
    await page.goBack()
    await page.getByText(/meaning 0\.0164 \(rank 1\)/).waitFor()
  })
  look('a vector of a model', meantBase + '/?rank=meaning', async (page) => {
    const field = page.getByLabel('or a vector that your model made')
    await field.fill('[1, 0]')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByRole('alert').getByText('This vector has 2 numbers: the documents’ have 3.').waitFor()
    await field.fill('hello')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByRole('alert').getByText('This is no vector: want a list of 3 numbers').waitFor()
    await field.fill('[1, 0, 0]')
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByText('Nearest in meaning to your vector of 3 numbers').waitFor()
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 0')
    await page.getByRole('button', { name: 'Compare with something else' }).click()
    await page.getByLabel('File with a vector').setInputFiles({ name: 'v.json', mimeType: 'application/json', buffer: Buffer.from('[[-1, 0.05, 0]]') })
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 18')
    await page.getByRole('link', { name: 'Table', exact: true }).click()
    await page.getByText('1–20 of 20 documents').waitFor()
    await page.goBack()
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 18')
    await page.goto(meantBase + '/?rank=meaning&like=m19')
    await page.getByRole('alert').getByText('the document "m19" has no vector').waitFor()
  }, { quiet: false })
  look('weighted tokens', meantBase + '/?q=moon', async (page) => {
    await page.getByText('The best 7 of 7').waitFor()
    await page.getByText('weighted tokens', { exact: true }).click()
    const field = page.getByLabel('tokens and weights')
    for (const [given, said] of [['{"sea": -1}', 'The weight of “sea” is -1'], ['{"sea": "2"}', 'The weight of “sea” is "2"'],
      ['[["sea", 1], ["sea", 2]]', '“sea” is there twice'], ['{"sea": 1', 'This is no JSON'], ['{}', 'No token has a weight']]) {
      await field.fill(given)
      await page.getByRole('button', { name: 'Use them' }).click()
      await page.getByRole('alert').getByText(said).waitFor()
    }
    await field.fill('{"query_toks": {"sea": 2, "no token of these": 1}}')
    await page.getByRole('button', { name: 'Use them' }).click()
    await page.getByText('Ranked by 2 weighted tokens: sea 2, no token of these 1, added to the score of the words “moon”.').waitFor()
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 19')
    await page.getByLabel('Weight of the tokens').fill('0.001')
    await page.keyboard.press('Enter')
    await page.waitForURL(/tweight=0.001/)
    await page.waitForFunction(() => Number(document.querySelector('.score')?.innerText) < 2)
    await page.getByRole('button', { name: 'even', exact: true }).click()
    await page.getByRole('link', { name: 'Text 18', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Without tokens' }).click()
    await page.getByLabel('File with weighted tokens').setInputFiles({ name: 'q.json', mimeType: 'application/json', buffer: Buffer.from('{"sea":1}') })
    await page.goto(meantBase + '/?tokens=%7B%22sea%22%3A2%7D')
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 19')
    await page.getByText('The best 10 of 10').waitFor()
    await page.goto(meantBase + '/?rank=both&q=moon&vector=1,0,0&tokens=%7B%22sea%22%3A2%7D')
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 19')
    await page.goto(meantBase + '/?tokens=%7B%22sea%22%3A0.5%7D')
    await page.getByRole('alert').getByText('weight 0.5 is not a whole number').waitFor()
  }, { quiet: false })
  look('an encoder of the server', encodedBase + '/?q=moon&rank=meaning', async (page) => {
    await page.getByText('Nearest in meaning to “moon”: an encoder of the server makes a vector of it.').waitFor()
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 0')
    await page.getByLabel('Words to search for').fill('late words')
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 18')
    await page.getByLabel('Rank by', { exact: true }).selectOption('both')
    await page.getByText(/meaning 1\.000 \(1\.00 × /).waitFor()
    await page.getByLabel('Weight of meaning').waitFor()
  })
  look('meaning over shards', meantRootBase + '/?q=moon&rank=both&vector=1,0,0', async (page) => {
    await page.getByText('added as they are: shards cannot compare shares or ranks').waitFor()
    await page.waitForFunction(() => document.querySelector('.title')?.innerText === 'Text 0')
    await page.getByText(/meaning 1\.000/).waitFor()
  })
  look('two selections compared', stories + '/words?q=heist', async (page) => {
    await page.getByRole('button', { name: 'Take these documents' }).click()
    await page.waitForURL(/here=heist/)
    await page.getByText(/documents with .* words for “heist”/).waitFor()
  })
  look('completion, spelling, history', stories + '/', async (page) => {
    await page.getByLabel('Words to search for').fill('gen')
    await page.locator('#completions option[value="genre:"]').waitFor({ state: 'attached' })
    await page.getByLabel('Words to search for').fill('genre:cr')
    await page.locator('#completions option[value="genre:crime"]').waitFor({ state: 'attached' })
    await page.getByLabel('Words to search for').fill('heest')
    await page.getByRole('button', { name: 'heist', exact: true }).click()
    await page.getByText('The best 3 of 3').waitFor()
    await page.waitForFunction(() => localStorage.getItem('collocate-searches')?.includes('"heist"'))
    await page.getByText('History').click()
    await page.getByRole('button', { name: 'Save this search' }).click()
    await page.getByRole('heading', { name: 'Saved' }).waitFor()
  })
  look('data put in, edited, deleted', changingBase + '/', async (page) => {
    page.on('dialog', (d) => d.accept())
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    await dialog.locator('input[type=file]').setInputFiles({ name: 'books.csv', mimeType: 'text/csv',
      buffer: Buffer.from('id,title,year,shelf\nb1,"The Sea, the Sea",1978,a\nb2,Moby Dick,1851,b\nb3,The Waves,1931,a\n') })
    await dialog.getByText('3 documents with the columns below').waitFor()
    await dialog.getByLabel('into').selectOption('')
    check((await dialog.getByLabel('Type of year').inputValue()) === 'number', 'a column of numbers is one')
    await dialog.getByLabel('named').fill('books')
    await dialog.getByRole('button', { name: 'Add 3 documents' }).click()
    await page.getByText('books has 3 documents').waitFor()
    await page.getByLabel('Words to search for').fill('sea')
    await page.waitForURL(/q=sea/)
    await page.getByRole('link', { name: 'The Sea, the Sea' }).click()
    const reader = page.getByRole('dialog')
    await reader.getByRole('button', { name: 'Edit' }).click()
    const text = await reader.getByLabel('The document as JSON').inputValue()
    await reader.getByLabel('The document as JSON').fill(text.replace('1978', '1979'))
    await reader.getByRole('button', { name: 'Save' }).click()
    await reader.getByText('1979').waitFor()
    await reader.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Nothing found for “sea”').waitFor()
  })
  look('a file is dropped on the page and mapped', changingBase + '/lines', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).waitFor()
    const kinds = ['cafe', 'bank', 'cafe', 'pub']
    const csv = 'key,kind,month,lat,lng\n' + Array.from({ length: 40 }, (_, i) => `k${i},${kinds[i % 4]},2020-0${1 + (i % 9)},${50 + i / 10},${8 + (i % 7) / 10}`).join('\n') + '\n'
    const data = await page.evaluateHandle((csv) => {
      const t = new DataTransfer()
      t.items.add(new File([csv], 'shops.csv', { type: 'text/csv' }))
      return t
    }, csv)
    await page.dispatchEvent('main', 'dragover', { dataTransfer: data })
    await page.locator('.page.over').waitFor()
    await page.dispatchEvent('main', 'drop', { dataTransfer: data })
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    await dialog.getByText('40 documents with the columns below').waitFor()
    await dialog.getByLabel('into').selectOption('')
    const types = await Promise.all(['kind', 'month', 'lat', 'lng', 'location'].map((c) => dialog.getByLabel('Type of ' + c).inputValue()))
    check(types.join() === 'keyword,date,leave out,leave out,geo', 'the types are guessed: ' + types)
    await dialog.getByRole('button', { name: 'Add 40 documents' }).click()
    await page.getByText('shops has 40 documents').waitFor()
    await page.getByRole('link', { name: 'Map', exact: true }).click()
    await page.getByText('40 of 40 documents with a position in location').waitFor()
    await page.getByLabel('colours of').selectOption('kind')
    await page.locator('.key').getByRole('button', { name: 'pub' }).click()
    await page.getByText('10 of 10 documents with a position in location').waitFor()
  })
  for (const width of [390, 1440]) look(`patterns of documents that were put in ${width}`, changingBase + '/', async (page) => {
    // 40 pairs of a cafe and a bank at 40 m, and 20 pubs that are alone.
    const at = (i) => `${50 + Math.floor(i / 8) / 100},${8 + (i % 8) / 50}`
    const rows = Array.from({ length: 40 }, (_, i) => [`cafe,2020-01-0${1 + (i % 9)},${at(i)}`, `bank,2021-01-01,${Number(at(i).split(',')[0]) + 0.00036},${at(i).split(',')[1]}`]).flat()
    const pubs = Array.from({ length: 20 }, (_, i) => `pub,2022-01-01,${50.005 + i / 500},${8.01 + (i % 7) / 45}`)
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    await dialog.locator('input[type=file]').setInputFiles({ name: `town${width}.csv`, mimeType: 'text/csv',
      buffer: Buffer.from('kind,opened,lat,lon\n' + [...rows, ...pubs].join('\n') + '\n') })
    await dialog.getByLabel('into').selectOption('')
    await dialog.getByRole('button', { name: 'Add 100 documents' }).click()
    await page.getByText(`town${width} has 100 documents`).waitFor()
    await page.getByRole('link', { name: 'Map', exact: true }).click()
    await page.getByRole('button', { name: 'Patterns of documents' }).click()
    await page.waitForURL(/map=patterns/)
    await page.getByText('among 100 places of 3 kinds').waitFor()
    await page.locator('.pattern', { hasText: 'bank + cafe' }).click()
    await page.getByText('40 of 40 cafe').waitFor()
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) > 50)
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.area) > 0)
    await page.getByLabel('Null model').selectOption('shift')
    await page.getByLabel('Rounds', { exact: true }).fill('39')
    await page.getByRole('button', { name: 'Test the patterns' }).click()
    await page.getByText('1 of 1 sets are more often together within 100 m than 39 rounds of chance').waitFor({ timeout: 120_000 })
    check(/curl .*\/v1\/indexes\/town\d+\/places\/patterns\?distance=100.*feature_field=kind/.test(await page.locator('.card pre').last().innerText()), 'the call that gives the same')
    // Filters of all views choose the documents.
    await page.goto(page.url() + '&f=' + encodeURIComponent('kind:"cafe"\nkind:"pub"'))
    await page.getByText('among 60 places of 2 kinds').waitFor()
    await page.getByText('No set reaches').waitFor()
    await page.getByLabel('time').selectOption('opened')
    await page.getByRole('button', { name: 'Play' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Play' }).waitFor()
    await page.goto(page.url().replace(/f=[^&]*/, 'f=kind%3Apub'))
    await page.getByText('are of one kind, pub: patterns need two').waitFor()
  }, { width })
  look('patterns of documents take long', storiesBase + '/places?map=patterns&kind=genre', async (page) => {
    await page.getByText(/^This takes longer/).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('alert').getByText('Cancelled').waitFor()
    await page.unroute('**/v1/jobs/*/events')
    await page.getByLabel('Distance', { exact: true }).fill('99')
    await page.getByText(/among 3 places of 2 kinds/).waitFor()
  }, {
    quiet: false,
    before: async (page) => {
      await page.route('**/places/patterns*', (r) => r.fulfill({ status: 503, json: { error: 'the request took too long' } }))
      await page.route('**/v1/jobs/*/events', () => { /* no answer */ })
    },
  })
  look('columns with any names', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    const file = { name: 'sheet.csv', mimeType: 'text/csv', buffer: Buffer.from('id,Überschrift,Installed size (kB),Installed-size (kB),年\n7,Ein Titel,178,9,2001\n7,Zwei,12,8,2002\n') }
    await dialog.locator('input[type=file]').setInputFiles(file)
    await dialog.getByLabel('into').selectOption('')
    await dialog.getByRole('rowheader', { name: 'Installed size (kB) as Installed_size_kB' }).waitFor()
    await dialog.getByLabel('ID', { exact: true }).selectOption('')
    await dialog.getByRole('rowheader', { name: 'id as id_2' }).waitFor()
    await dialog.getByRole('button', { name: 'Add 2 documents' }).click()
    await page.getByText('sheet has 2 documents').waitFor()
    await page.getByRole('link', { name: 'Table', exact: true }).click()
    await page.getByText('1–2 of 2 documents').waitFor()
    const cells = await page.locator('.wide-table tbody tr').first().locator('td').allInnerTexts()
    check(cells.join('|') === '7|Ein Titel|178|9|2001', 'the values: ' + cells.join('|'))
    const heads = (await page.locator('.wide-table thead th').allInnerTexts()).join('|')
    check(heads === 'ID|id_2|Uberschrift|Installed_size_kB|Installed-size_kB|field', 'the fields: ' + heads)
    // The same file again has the same fields.
    await page.getByRole('button', { name: '+ Add data' }).click()
    await dialog.locator('input[type=file]').setInputFiles(file)
    await dialog.getByLabel('into').selectOption('sheet')
    await dialog.getByRole('row', { name: /^Installed size/ }).getByText('kept').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
  })
  look('bars of numbers of which few are large', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    const rows = Array.from({ length: 300 }, (_, i) => `item ${i},${i % 3 ? 'thing' : 'tool'} number ${i},${i === 7 ? 500000 : i === 8 ? 80000 : i % 100}`)
    await dialog.locator('input[type=file]').setInputFiles({ name: 'stock.csv', mimeType: 'text/csv', buffer: Buffer.from('item,remark,price\n' + rows.join('\n') + '\n') })
    await dialog.getByLabel('into').selectOption('')
    await dialog.getByRole('button', { name: 'Add 300 documents' }).click()
    await page.getByText('stock has 300 documents').waitFor()
    check((await page.locator('.title').first().innerText()) === 'item 0', 'the first of several texts is the title')
    await page.getByRole('button', { name: /^price .* or more, 2 documents/ }).waitFor()
    const bars = await page.getByRole('button', { name: /^price .* documents?$/ }).evaluateAll((all) => all.map((b) => b.getAttribute('aria-label')))
    const sum = bars.reduce((n, b) => n + Number(b.match(/, (\d+) doc/)[1]), 0)
    check(bars.length >= 10 && sum === 300, `${bars.length} bars of ${sum} documents: ${bars}`)
    await page.getByRole('button', { name: /^price .* or more, 2 documents/ }).click()
    await page.getByText('The first 2 of 2').waitFor()
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.getByLabel('Words to search for').fill('tool')
    await page.getByText('The best 10 of 100').waitFor()
    await page.waitForFunction(() => [...document.querySelectorAll('.bars button')].reduce((n, b) => n + Number(b.getAttribute('aria-label').match(/, (\d+) doc/)[1]), 0) === 100)
  })
  look('a view that does not come', base + '/', async (page) => {
    await page.locator('article').first().waitFor()
    await page.route('**/assets/Lines.js', () => { /* no answer */ })
    await page.getByRole('link', { name: 'Lines', exact: true }).click()
    await page.getByText('Loading…').waitFor()
  })
  look('a view that cannot be loaded', base + '/', async (page) => {
    await page.locator('article').first().waitFor()
    await page.route('**/assets/Lines.js', (r) => r.abort())
    await page.getByRole('link', { name: 'Lines', exact: true }).click()
    await page.getByRole('alert').getByText('This view could not be loaded').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
  }, { quiet: false })
  look('coasts and borders without another server', storiesBase + '/places', async (page) => {
    const asked = []
    page.on('request', (r) => asked.push(new URL(r.url()).pathname))
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) === 2)
    await page.waitForFunction(() => performance.getEntriesByType('resource').some((e) => e.name.includes('/assets/outlines')))
    const drawn = () => page.locator('.map canvas').evaluate((c) => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 0).length)
    for (let i = 0; i < 50 && (await drawn()) < 1000; i++) await page.waitForTimeout(100)
    check((await drawn()) > 1000, `outlines are drawn: ${await drawn()} pixels`)
  }, { quiet: false })
  look('newest first; links, line breaks and right-to-left text', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    const rows = [{ id: 'n1', title: 'Old', date: '2001-01-01', text: 'one\ntwo\nthree', link: 'https://example.org/a?b=1' },
      { id: 'n2', title: 'New', date: '2024-05-06', text: 'مرحبا بالعالم', link: 'https://example.org/n' }, { id: 'n3', title: 'Middle', date: '2010-01-01', text: 'plain', link: 'no link' }]
    await dialog.locator('input[type=file]').setInputFiles({ name: 'news.jsonl', mimeType: 'application/json', buffer: Buffer.from(rows.map((r) => JSON.stringify(r)).join('\n') + '\n') })
    await dialog.getByLabel('into').selectOption('')
    await dialog.getByRole('button', { name: 'Add 3 documents' }).click()
    await page.getByText('news has 3 documents').waitFor()
    await page.getByRole('heading', { name: 'The newest' }).waitFor()
    check((await page.locator('.title').allInnerTexts()).join() === 'New,Middle,Old', 'the newest are first: ' + await page.locator('.title').allInnerTexts())
    const tries = await page.getByText(/^Try /).innerText()
    check(/^Try New, Middle, Old\. |^Try Middle\. |^Try New, Middle, Old\.$/.test(tries) || /^Try \S.*, \S/.test(tries) || /^Try Middle/.test(tries), 'examples with blanks between them: ' + tries)
    await page.getByRole('link', { name: 'Old' }).first().click()
    const reader = page.getByRole('dialog')
    check((await reader.getByRole('link', { name: 'https://example.org/a?b=1' }).getAttribute('href')) === 'https://example.org/a?b=1', 'an address is a link')
    const tall = (text) => reader.getByText(text).last().evaluate((e) => { const r = document.createRange(); r.selectNodeContents(e); return new Set([...r.getClientRects()].map((q) => Math.round(q.top))).size })
    check((await tall('two')) >= 3, 'line breaks are kept')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'New', exact: true }).last().click()
    check((await reader.getByText('مرحبا بالعالم').last().evaluate((e) => getComputedStyle(e).direction)) === 'rtl', 'Arabic is written from the right')
  })
  look('all hits, beyond those that can be gone to at once', bareBase + '/?q=cells&n=100&start=900', async (page) => {
    await page.getByText(/^901–1,000 of/).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText(/^1,001–1,100 of/).waitFor()
    await page.reload()
    await page.getByText(/^1,001–1,100 of/).waitFor()
    await page.getByRole('button', { name: 'Previous' }).click()
    await page.getByText(/^901–1,000 of/).waitFor()
  })
  look('documents in the order of two fields', storiesBase + '/', async (page) => {
    await page.getByLabel('Order').selectOption('genre')
    await page.getByLabel('Then', { exact: true }).selectOption('year:desc')
    await page.waitForURL(/sort=genre%2Cyear%3Adesc/)
    await page.getByRole('heading', { name: 'The first by genre, then year, descending' }).waitFor()
    await page.waitForFunction(() => [...document.querySelectorAll('.title')].map((t) => t.textContent).join() === 'Two Roads,Night Train,The Heist,Silent Sea')
  })
  look('without a network', storiesBase + '/?q=heist', async (page) => {
    await page.getByText('The best 3 of 3').waitFor()
    await page.context().setOffline(true)
    await page.getByLabel('Words to search for').fill('train')
    await page.getByRole('alert').getByText('The server does not respond').waitFor()
    await page.context().setOffline(false)
    await page.getByText('The best 1 of 1').waitFor() // by itself
    check((await page.getByRole('alert').count()) === 0, 'no error is left')
  }, { quiet: false })
  look('adding many documents shows how far it is, and stops', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    await dialog.locator('input[type=file]').setInputFiles({ name: 'much.csv', mimeType: 'text/csv', buffer: Buffer.from('id,name\n' + Array.from({ length: 4500 }, (_, i) => `${i},name ${i}`).join('\n') + '\n') })
    await dialog.getByLabel('into').selectOption('')
    await page.route('**/documents?refresh=true', () => { /* the last part is never answered */ })
    await dialog.getByRole('button', { name: 'Add 4,500 documents' }).click()
    await dialog.getByText('4,000 of 4,500 documents sent').waitFor()
    check((await dialog.getByLabel('Documents sent').getAttribute('value')) === '4000', 'a bar shows how far it is')
    await dialog.getByRole('button', { name: 'Stop' }).click()
    await dialog.getByRole('alert').getByText('Stopped. 4,000 documents are in much.').waitFor()
    await page.unroute('**/documents?refresh=true')
    await dialog.getByRole('button', { name: 'Add 4,500 documents' }).click()
    await page.getByText('much has 4,500 documents').waitFor()
  }, { quiet: false })
  look('the filter of lines reads all of them', base + '/lines?q=cell&near=lipid', async (page) => {
    const lines = async (more) => (await (await fetch(base + '/v1/concordance?q=cell&window=10&count=1&' + more)).json())
    const [first, all] = [await lines('top=100'), await lines('with=lipid&top=1000')]
    await page.getByText(`1–${Math.min(100, all.total)} of ${all.total.toLocaleString('en')} lines, in`).waitFor()
    const early = new Set(first.lines.map((l) => l.document + l.right))
    check(first.total > 100 && all.lines.some((l) => !early.has(l.document + l.right)), 'some are beyond the first 100')
    check((await page.locator('tbody tr').count()) === Math.min(100, all.total), 'all are listed')
  })
  look('the network of a word is no knot of function words', base + '/words?q=membrane', async (page) => {
    await page.locator('.company .network circle').first().waitFor()
    const words = await page.locator('.company .network text').allInnerTexts()
    const usual = words.filter((w) => /^(the|of|and|to|in|a|is|for|with|by|on|that|as|are|was|this|at|be|from)$/.test(w))
    check(words.length > 10 && !usual.length, 'function words: ' + usual)
  })
  look('no snippet is empty', base + '/?q=cell+membrane&n=100', async (page) => {
    await page.locator('article').nth(99).waitFor()
    const empty = await page.locator('article p[dir=auto]').evaluateAll((all) => all.filter((p) => !/\p{L}{3}/u.test(p.textContent)).length)
    check(empty === 0, `${empty} snippets without words`)
    check((await page.locator('article p[dir=auto]').count()) >= 95, 'hits have snippets')
  })
  look('a table beyond what can be shown', bareBase + '/table?q=cells&start=5000', async (page) => {
    await page.getByRole('alert').getByText('Only the first 1,000 results can be shown here. Narrow the search down.').waitFor()
  }, { quiet: false })
  // The command of a view gives what the view saves.
  for (const [view, verb, key, at = storiesBase, index = 'stories'] of [['/lines?q=heist&f=genre%3Acrime', 'concordance', 'left'], ['/words?list=words&f=genre%3Acrime', 'wordlist', 'word'], ['/words?q=heist&list=collocates&least=1', 'collocations', 'word2'],
    ['/words?list=sequences&f=genre%3Acrime&least=1', 'ngrams', 'ngram'], ['/words?q=membrane&list=keywords', 'keywords', 'word', base, 'elife'], ['/table?f=genre%3Acrime', 'search', 'id']]) {
    look(`the command of ${verb} gives the saved file`, at + view, async (page) => {
      await page.getByText('Export').first().click()
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'JSON', exact: true }).first().click()])
      const saved = JSON.parse(readFileSync(await file.path(), 'utf8'))
      const [line, http] = await page.locator('.export').first().locator('pre').allInnerTexts()
      const words = line.match(/'[^']*'|\S+/g).map((w) => w.replace(/^'|'$/g, ''))
      words[2] = join(dir, index + '.index') // where the index is, the page does not know
      const found = JSON.parse(execFileSync(command, [...words.slice(1), '--json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
      const rows = Object.values(found).find((v) => Array.isArray(v) && v[0]?.[key] !== undefined) ?? []
      const of = (list) => list.map((r) => r[key]).join('|')
      check(saved.length > 0 && of(rows) === of(saved), `${line}: ${of(rows).slice(0, 200)}, saved ${of(saved).slice(0, 200)}`)
      const answer = await (await fetch(http.match(/'(http[^']*)'/)?.[1] ?? http.split(' ')[1])).json()
      check(of(Object.values(answer).find((v) => Array.isArray(v) && v[0]?.[key] !== undefined) ?? []) === of(saved), http)
    })
  }
  // Findings of people who used the page, each with what they did.
  look('a stem is suggested as it is written', base + '/?q=membrnae+lipid', async (page) => {
    const suggested = page.getByText('did you mean').getByRole('button')
    await suggested.first().waitFor()
    await page.waitForFunction(() => [...document.querySelectorAll('p[role=status] button.link')].some((b) => /^membranes?$/.test(b.textContent)))
    await page.getByRole('button', { name: /^membranes?$/ }).first().click()
    await page.waitForURL(/q=membranes?\+lipid/)
  })
  look('pages by number, of another size', base + '/?q=cell', async (page) => {
    await page.getByLabel('Page', { exact: true }).fill('3')
    await page.getByRole('button', { name: 'Go', exact: true }).click()
    await page.getByText(/^21–30 of/).waitFor()
    await page.getByLabel('Results on a page').selectOption('50')
    await page.getByText(/^The best 50 of/).waitFor()
    await page.reload()
    await page.getByText(/^The best 50 of/).waitFor()
    await page.goto(base + '/?q=cell&start=99999')
    await page.getByText('Result 100,000 cannot be gone to at once').waitFor()
  })
  look('words are shown as they were typed', base + '/?q=zebrafish+embryos', async (page) => {
    await page.locator('.key', { hasText: 'embryos' }).waitFor()
  })
  look('a range that is none', storiesBase + '/', async (page) => {
    await page.getByLabel('year from').fill('199x')
    await page.getByRole('button', { name: 'Only these' }).first().click()
    check((await page.getByLabel('year from').evaluate((i) => i.validationMessage)).includes('Write a number'), 'the field says what is wrong')
    check(!page.url().includes('f='), 'no filter was set')
    await page.locator('article').nth(3).waitFor()
    await page.getByLabel('year from').fill('1999')
    await page.getByRole('button', { name: 'Only these' }).first().click()
    await page.getByText('The first 3 of 3').waitFor()
  })
  look('an order has its heading, a wrong query no retry', storiesBase + '/?sort=year%3Adesc', async (page) => {
    await page.getByRole('heading', { name: 'The first by year, descending' }).waitFor()
    await page.goto(storiesBase + '/?q=year%3Aabc')
    await page.getByRole('alert').waitFor()
    const said = await page.getByRole('alert').innerText()
    check(!/^search:|Try again/.test(said), 'what is wrong, and nothing else: ' + said)
  }, { quiet: false })
  look('edits are careful', changingBase + '/', async (page) => {
    const headers = { 'Content-Type': 'application/json' }
    await fetch(changingBase + '/v1/indexes/edited', { method: 'PUT', headers, body: JSON.stringify({ store_text: true }) })
    await fetch(changingBase + '/v1/indexes/edited/documents?refresh=true', { method: 'POST', headers, body: JSON.stringify({ id: 'b', contents: 'row row row your boat' }) })
    await page.goto(changingBase + '/?index=edited&doc=b')
    let asked = 0, answer = false
    page.on('dialog', (d) => { asked++; return answer ? d.accept() : d.dismiss() })
    const reader = page.getByRole('dialog')
    const field = reader.getByLabel('The document as JSON')
    await reader.getByRole('button', { name: 'Edit' }).click()
    const text = await field.inputValue()
    await field.fill(text.replace('row row row', 'row on'))
    await page.keyboard.press('Escape')
    check(asked === 1 && (await field.inputValue()).includes('row on'), 'changes are not given up without a question')
    // Another tab is faster.
    const other = await fetch(changingBase + '/v1/indexes/edited/documents?refresh=true', { method: 'POST', headers, body: JSON.stringify({ id: 'b', contents: 'meanwhile' }) })
    check(other.ok, 'the other change is made')
    await reader.getByRole('button', { name: 'Save' }).click()
    await reader.getByRole('alert').getByText('was changed meanwhile').waitFor()
    await reader.getByRole('button', { name: 'Save' }).click()
    await reader.getByText('Saved.', { exact: true }).waitFor()
    await reader.getByText('row on your boat').waitFor()
    await reader.getByRole('button', { name: 'Edit' }).click()
    await field.fill(JSON.stringify({ id: 'b2', contents: 'a copy' }))
    await reader.getByRole('button', { name: 'Save' }).click()
    await reader.getByText('Saved as another document: b is still there, too.').waitFor()
    await page.waitForURL(/doc=b2/)
    answer = true
    await reader.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('edited has 1 document').waitFor() // deleted and replaced ones do not count
  })
  look('a field that does not exist', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    const csv = { name: 'plays.csv', mimeType: 'text/csv', buffer: Buffer.from('id,name,year\np1,Hamlet,\np2,Faust,1808\n') }
    await dialog.locator('input[type=file]').setInputFiles(csv)
    await dialog.getByLabel('into').selectOption('')
    await dialog.getByRole('row', { name: /year/ }).getByText('1808').waitFor() // the first value that there is
    await dialog.getByRole('button', { name: 'Add 2 documents' }).click()
    await page.locator('.title', { hasText: 'Hamlet' }).click() // a name is a title
    const reader = page.getByRole('dialog')
    await reader.getByRole('button', { name: 'Edit' }).click()
    await reader.getByLabel('The document as JSON').fill('{"id":"p1","name":"Hamlet","yaer":1603}')
    await reader.getByRole('button', { name: 'Save' }).click()
    await reader.getByRole('alert').getByText('no field yaer').waitFor()
    await reader.getByLabel('The document as JSON').fill('{"id":"p1","name":"Hamlet","year":1603}')
    await reader.getByRole('button', { name: 'Save' }).click()
    await reader.getByText('1603').waitFor()
    await reader.getByRole('button', { name: 'Close' }).click()
    // The same file again would replace its documents.
    await page.getByRole('button', { name: '+ Add data' }).click()
    await dialog.locator('input[type=file]').setInputFiles(csv)
    await dialog.getByLabel('into').selectOption('plays')
    await dialog.getByText('All of the first 2 IDs are in plays already').waitFor()
    check(await dialog.getByRole('button', { name: 'Add 2 documents' }).isVisible(), 'the button is there')
  })
  look('nothing is lost without a word', changingBase + '/', async (page) => {
    const put = async (name, text, into = '') => {
      await page.getByRole('button', { name: '+ Add data' }).click()
      await dialog.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: typeof text === 'string' ? Buffer.from(text) : text })
      await dialog.getByText('with the columns below').waitFor()
      await dialog.getByLabel('into').selectOption(into)
    }
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    // A row that the server refuses.
    await put('days.csv', 'id,title,when\nd1,one,2024-02-28\nd2,two,2024-02-30\n')
    await dialog.getByRole('button', { name: 'Add 2 documents' }).click()
    await dialog.getByText('1 of 2 documents were added to days.').waitFor()
    await dialog.getByRole('alert').getByText(/d2: .*2024-02-30.* is not a date/).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('days has 1 document').waitFor()
    // A second file without IDs adds to the first.
    await put('a.csv', 'name,kind\nAnna,x\nBert,x\n')
    await dialog.getByRole('button', { name: 'Add 2 documents' }).click()
    await page.getByText('a has 2 documents').waitFor()
    await put('b.csv', 'name,kind\nCarl,x\n', 'a')
    await dialog.getByRole('button', { name: 'Add 1 document' }).click()
    await page.getByText('a has 3 documents').waitFor()
    // IDs that come twice, columns without a name or with the same.
    await put('c.csv', 'id,a,a,\n1,x,y,z\n1,u,v,w\n')
    await dialog.getByText('1 document has the ID of an earlier one').waitFor()
    for (const name of ['a', 'a (2) as a_2', 'column 4 as column_4']) await dialog.getByRole('rowheader', { name, exact: true }).waitFor()
    await dialog.getByLabel('ID', { exact: true }).selectOption('')
    check((await dialog.getByText('has the ID of an earlier one').count()) === 0, 'numbers of rows are different')
    await dialog.getByRole('button', { name: 'Close' }).click()
    // Codes are no numbers.
    await put('codes.csv', 'code,isbn,tweet,price,at\n00123,9780000000001,1234567890123456789,5,"52.5,13.4"\n04912,9780000000002,1234567890123456780,7.5,"48.1,11.6"\n')
    const types = await Promise.all(['code', 'isbn', 'tweet', 'price', 'at'].map((c) => dialog.getByLabel('Type of ' + c).inputValue()))
    check(types.join() === 'keyword,keyword,keyword,number,geo', 'types of codes: ' + types)
    await dialog.getByRole('button', { name: 'Close' }).click()
    // Other encodings.
    await put('latin.csv', Buffer.from('id;title\n1;Stra\u00dfe in K\u00f6ln\n', 'latin1'))
    await dialog.getByText('latin.csv is not in UTF-8').waitFor()
    await dialog.getByText('Straße in Köln').waitFor()
    await dialog.getByLabel('Encoding').selectOption('windows-1251')
    await dialog.getByText('StraЯe in Kцln').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await put('utf16.csv', Buffer.from('\ufeffid\ttitle\n1\tÜber\n', 'utf16le'))
    await dialog.getByText('Über').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
  }, { quiet: false })
  look('a saved table is put in again', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    await dialog.locator('input[type=file]').setInputFiles({ name: 'saved.csv', mimeType: 'text/csv', buffer: Buffer.from('rank,id,fields.title,fields.year\n1,b1,The Sea,1978\n') })
    await dialog.getByRole('rowheader', { name: 'title', exact: true }).waitFor()
  })
  look('hits are saved with all fields', storiesBase + '/?q=heist', async (page) => {
    await page.getByText('The best 3 of 3').waitFor()
    await page.getByText('Export').click()
    await page.getByText(/^All 3 documents are saved, with title, genre/).waitFor()
    await page.getByLabel('all stored fields').check()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
    const rows = readFileSync(await file.path(), 'utf8').trim().split('\n')
    check(rows.length === 4 && rows[0].includes('fields.plot'), 'the file has texts: ' + rows[0])
  })
  look('vectors that are put in', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    await dialog.locator('input[type=file]').setInputFiles({ name: 'meant.jsonl', mimeType: 'application/json',
      buffer: Buffer.from('{"id":"1","text":"a cat on a mat","v":[0.9,0.1,0]}\n{"id":"2","text":"the dog barks","v":[0.2,0.9,0.1]}\n{"id":"3","text":"no vector"}\n') })
    await dialog.getByLabel('into').selectOption('')
    check((await dialog.getByLabel('Type of v').inputValue()) === 'vector', 'a column of vectors is one')
    await dialog.getByRole('button', { name: 'Add 3 documents' }).click()
    await page.getByText('meant has 3 documents').waitFor()
    await page.getByLabel('Rank by', { exact: true }).selectOption('meaning')
    await page.getByLabel('what is near the document').fill('2')
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByText('The nearest 2 of 2').waitFor()
  })
  look('words with measures of choice', base + '/words?q=membrane', async (page) => {
    await page.getByRole('columnheader', { name: 'at least' }).waitFor()
    await page.getByRole('button', { name: 'Collocates of membrane' }).click()
    await page.getByRole('rowheader', { name: 'plasma', exact: true }).first().waitFor()
    await page.getByLabel('Words on each side').fill('2')
    await page.getByLabel('Words on each side').press('Tab')
    await page.getByText('within 2 words on each side').waitFor()
    await page.getByLabel('Measure of collocates').selectOption('g2')
    await page.getByRole('columnheader', { name: 'log-likelihood' }).first().waitFor()
    await page.getByRole('button', { name: 'Sequences' }).click()
    await page.getByLabel('Words of a sequence').selectOption('3')
    await page.waitForFunction(() => { const all = [...document.querySelectorAll('.scroll tbody th')].slice(0, 9).map((t) => t.textContent.split(' ').length); return all.length > 5 && all.every((n) => n === 3) })
    await page.reload()
    await page.waitForURL(/span=2.*measure=g2.*n=3/)
  })
  look('colours and counts of a map stay true', storiesBase + '/places?colour=genre', async (page) => {
    const dots = () => page.locator('.key > span').evaluateAll((all) => Object.fromEntries(all.map((s) => [s.textContent.trim().split(' ')[0], s.querySelector('.dot').style.backgroundColor])))
    await page.locator('.key', { hasText: 'crime' }).waitFor()
    await page.waitForFunction(() => document.querySelectorAll('.key > span').length > 1)
    const before = await dots()
    await page.getByLabel('to', { exact: true }).fill('100')
    await page.getByText('1 of them in the time below').waitFor()
    await page.waitForURL(/time=/)
    await page.reload()
    await page.getByText('1 of them in the time below').waitFor()
    const after = await dots()
    for (const name of Object.keys(after)) check(before[name] === after[name], `${name} keeps its colour: ${before[name]} ${after[name]}`)
    await page.getByRole('button', { name: 'Only this time' }).click()
    await page.getByText('1 of 1 documents with a position in place').waitFor()
  })
  look('sets within larger ones, an exact distance', base + '/places?d=150&p=0.3', async (page) => {
    await page.locator('.pattern').first().waitFor()
    await page.getByText(/often together, the largest ones, among/).waitFor()
    const before = await page.locator('.pattern').count()
    await page.getByLabel('also sets within larger ones').check()
    await page.waitForURL(/all=1/)
    await page.waitForFunction((n) => document.querySelectorAll('.pattern').length > n, before)
    await page.getByLabel('Exact distance').fill('155')
    await page.getByLabel('Exact distance').press('Tab')
    await page.waitForURL(/d=155/)
  })
  for (const width of [390, 1440]) look(`a map in plane coordinates ${width}`, planarBase + '/places?d=50', async (page) => {
    await page.locator('.pattern', { hasText: 'bank + cafe' }).waitFor()
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) > 100)
    // The axes have numbers of the coordinates, in order, and the bar is as long as it says.
    const labels = (side) => page.locator(`.axes .${side}`).evaluateAll((all) => all.map((s) => [Number(s.textContent.replaceAll(',', '')), parseFloat(s.style.left || s.style.top)]))
    const [x, y] = [await labels('x'), await labels('y')]
    check(x.length > 1 && x.some(([n]) => n > 691000 && n < 693800) && x.every(([n], i) => !i || n > x[i - 1][0]), 'eastings: ' + x)
    check(y.length > 1 && y.some(([n]) => n > 5334000 && n < 5335600), 'northings: ' + y)
    const [bar, wide] = await page.locator('.scalebar span').evaluate((s) => [s.textContent, parseFloat(s.style.width)])
    check(/^[\d,]+ m$/.test(bar), 'the bar has the unit: ' + bar)
    const each = (x[1][0] - x[0][0]) / (x[1][1] - x[0][1])
    check(Math.abs(wide * each / Number(bar.replace(/[^\d]/g, '')) - 1) < 0.01, `a bar of ${wide} pixels, ${each} m each: ${bar}`)
    const all = await page.locator('.axes').textContent()
    await page.locator('.leaflet-control-zoom-in').click()
    await page.waitForFunction((n) => document.querySelector('.axes')?.textContent !== n, all)
    await page.getByText(/Its size is [\d.,]+ (km|m)²/).waitFor()
  }, { width, schemes: true })
  look('documents in plane coordinates', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    const rows = Array.from({ length: 40 }, (_, i) => [`bank,${100 * (i % 8)},${100 * Math.floor(i / 8)}`, `cafe,${100 * (i % 8) + 3},${100 * Math.floor(i / 8)}`]).flat()
    await dialog.locator('input[type=file]').setInputFiles({ name: 'site.csv', mimeType: 'text/csv', buffer: Buffer.from('kind,easting,northing\n' + rows.join('\n') + '\npost,,\n') })
    await dialog.getByLabel('into').selectOption('')
    await dialog.getByRole('button', { name: 'Add 81 documents' }).click()
    await page.getByText('site has 81 documents').waitFor()
    await page.getByRole('link', { name: 'Map', exact: true }).click()
    await page.getByText('80 of 80 documents with a position in easting,northing').waitFor()
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) === 80)
    check((await page.locator('.axes .x').count()) > 1, 'there are axes')
    await page.locator('.leaflet-control-zoom-in').click()
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) < 80)
    const drawn = Number(await page.locator('.map').getAttribute('data-drawn'))
    await page.getByRole('button', { name: 'Only this part of the map' }).click()
    await page.waitForURL(/f=easting.*northing/)
    // All 80 are shown until the answer about this part is there.
    const found = Number((await page.getByText(/^(?!80 )\d+ of \d+ documents with a position/).innerText()).split(' ')[0])
    check(found > 0 && Math.abs(found - drawn) <= 8, `${drawn} were in view, ${found} are found`)
    await page.getByRole('button', { name: 'Remove all' }).click()
    await page.getByRole('button', { name: 'Patterns of documents' }).click()
    await page.getByLabel('Exact distance').fill('5')
    await page.getByLabel('Exact distance').press('Tab')
    await page.locator('.pattern', { hasText: 'bank + cafe' }).click()
    await page.getByText('40 of 40 cafe').waitFor()
  })
  look('all documents of two selections are compared', base + '/words?here=cell&there=protein+-cell', async (page) => {
    const { total } = await (await fetch(base + '/v1/search?q=cell&k=0&count=1')).json()
    check(total > 1000, `${total} documents`)
    await page.getByText(new RegExp(`^${total.toLocaleString('en')} documents with .* words for “cell”, compared with`)).waitFor()
    check((await page.getByText(/^Note:/).count()) === 0, 'no document was left out')
    await page.goto(base + '/words?q=cell')
    await page.getByText(`All ${total.toLocaleString('en')} documents, compared with`).waitFor()
    await page.getByLabel('Documents compared').fill('100')
    await page.getByLabel('Documents compared').press('Tab')
    await page.getByText(`The best 100 of ${total.toLocaleString('en')} documents, compared with`).waitFor()
  })
  // Whatever takes a while can be cancelled, and asked again.
  for (const [what, route, address, begin, seen] of [
    ['keywords', '**/v1/keywords*', '/words?q=membrane', undefined, (page) => page.getByText(/^All \d+ documents, compared/)],
    ['a comparison', '**/v1/keywords*against*', '/words?here=membrane&there=neurons', undefined, (page) => page.getByText(/^\d+ documents with/)],
    ['lines', '**/v1/concordance*', '/lines?q=membrane', undefined, (page) => page.getByText(/^1–100 of/)],
    ['patterns', '**/places/patterns*', '/places?d=150&p=0.3', undefined, (page) => page.locator('.pattern').first()],
    ['quotients', '**/places/quotients*', '/places?d=150&p=0.3', 'Show quotients', (page) => page.getByText('Attract', { exact: true })],
    ['a curve', '**/places/curve*', '/places?d=150&p=0.3', 'Compare', (page) => page.getByText(/each other most at/)],
    ['a summary', '**/places/summary*', '/places?d=150&p=0.3', 'Describe the points', (page) => page.getByText('Distances worth mining')],
    ['local quotients', '**/places/local*', '/places?d=150&layer=quotient', undefined, (page) => page.locator('.key', { hasText: 'no neighbours' })],
  ]) look(`cancelling ${what}`, base + address, async (page) => {
    if (begin) await page.getByRole('button', { name: begin, exact: true }).click()
    const section = page.locator('main')
    await section.getByRole('button', { name: 'Cancel', exact: true }).first().click()
    await section.getByRole('alert').getByText('Cancelled.').first().waitFor()
    await page.unroute(route)
    await section.getByRole('button', { name: 'Try again' }).first().click()
    await seen(page).first().waitFor()
    check((await section.getByRole('alert').count()) === 0, `cancelling ${what}: no error is left`)
  }, { quiet: false, before: (page) => page.route(route, () => { /* no answer */ }) })
  look('a file that takes long is not saved', storiesBase + '/table', async (page) => {
    await page.getByText('1–4 of 4 documents').waitFor()
    await page.getByText('Export').click()
    await page.route('**/v1/search*', () => { /* no answer */ })
    await page.getByRole('button', { name: 'CSV' }).click()
    await page.locator('.export').getByRole('button', { name: 'Cancel' }).click()
    await page.locator('.export').getByRole('button', { name: 'CSV' }).and(page.locator(':enabled')).waitFor()
    await page.unroute('**/v1/search*')
    await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()])
  })
  look('a curve that takes long', base + '/places?d=150&p=0.3', async (page) => {
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText(/each other most at/).waitFor()
    await page.getByText(/^There, \d[\d,]* of \d[\d,]* \w+ and \d[\d,]* of \d[\d,]* \w+ are near each other\. Study area [1-9][\d,]* km²; /).waitFor()
  }, {
    quiet: false,
    before: (page) => page.route('**/places/curve*', (r) => r.fulfill({ status: 503, json: { error: 'the request took too long' } })),
  })
  look('all values of a field, bars of dates', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    const rows = Array.from({ length: 60 }, (_, i) => `t${i},Title ${i},colour ${i % 15},201${i % 5}-0${1 + (i % 9)}-1${i % 9},${i * 3.5}`)
    await dialog.locator('input[type=file]').setInputFiles({ name: 'paints.csv', mimeType: 'text/csv', buffer: Buffer.from('id,title,colour,made,price\n' + rows.join('\n') + '\n') })
    await dialog.getByLabel('into').selectOption('')
    await dialog.getByRole('button', { name: 'Add 60 documents' }).click()
    await page.getByText('paints has 60 documents').waitFor()
    await page.getByRole('button', { name: 'and 7 others' }).click()
    await page.getByRole('button', { name: 'colour 14', exact: true }).waitFor()
    await page.getByLabel('Look for values of colour').fill('12')
    await page.getByRole('button', { name: 'colour 12', exact: true }).click()
    await page.getByText('The first 4 of 4').waitFor()
    await page.getByLabel('Look for values of colour').fill('13')
    await page.getByRole('button', { name: 'colour 13', exact: true }).click()
    await page.getByText('The first 8 of 8').waitFor()
    await page.getByRole('button', { name: 'Remove all' }).click()
    // Bars of years are in the order of time, those of prices in the order of numbers.
    const bars = (name) => page.getByRole('button', { name: new RegExp(`^${name} .* documents?$`) }).evaluateAll((all) => all.map((b) => b.getAttribute('aria-label')))
    await page.getByRole('button', { name: 'made 2012, 12 documents' }).waitFor()
    check((await bars('made')).map((b) => b.slice(5, 9)).join() === '2010,2011,2012,2013,2014', 'years in order: ' + await bars('made'))
    check((await bars('price')).length >= 10, 'bars of prices: ' + await bars('price'))
    await page.getByRole('button', { name: 'made 2012, 12 documents' }).click()
    await page.getByText('The first 10 of 12').waitFor()
    await page.goBack()
    await page.getByText('paints has 60 documents').waitFor()
    await page.goForward()
    await page.getByText('The first 10 of 12').waitFor()
  })
  look('the calls of an export', bareBase + '/?q=membrane+lipid', async (page) => {
    await page.getByText(/^The best 10/).waitFor()
    const titles = await page.locator('article').count()
    await page.getByText('Export').click()
    const [command_, http, python] = await page.locator('.export pre').allInnerTexts()
    const ids = (hits) => hits.map((h) => h.id).join()
    const answer = await (await fetch(http.match(/'(http[^']*)'/)?.[1] ?? http.split(' ')[1])).json()
    const words = command_.match(/'[^']*'|\S+/g).map((w) => w.replace(/^'|'$/g, ''))
    words[2] = join(dir, 'elife.index') // where the index is, the page does not know
    const found = JSON.parse(execFileSync(command, [...words.slice(1), '--json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
    check(titles === 10 && ids(answer.hits) === ids(found.hits) && answer.hits.length === 10, 'the same hits: ' + command_)
    check(/^collocate\.connect\("http.*"\)\.search\("membrane lipid"/.test(python), 'the call of Python: ' + python)
  })
  look('JSON is compressed', base + '/', async (page) => {
    const encoding = await page.evaluate(async () => (await fetch('v1/search?q=cell&k=50&snippets=1')).headers.get('content-encoding'))
    check(encoding === 'gzip' || encoding === 'zstd' || encoding === 'br', 'JSON is sent as ' + encoding)
    await page.locator('article').nth(9).waitFor()
  })
  look('the page without scripts', base + '/plain?q=membrane', async (page) => {
    await page.getByText('membrane').first().waitFor()
  }, { schemes: true })
  look('a table by several columns', storiesBase + '/table', async (page) => {
    await page.getByText('1–4 of 4 documents').waitFor()
    await page.getByRole('button', { name: 'genre', exact: true }).click()
    await page.getByRole('button', { name: 'year', exact: true }).click({ modifiers: ['Shift'] })
    await page.waitForURL(/sort=genre%2Cyear$/)
    await page.getByRole('button', { name: 'year ↑2' }).click({ modifiers: ['Shift'] })
    await page.waitForURL(/sort=genre%2Cyear%3Adesc/)
    await page.getByRole('button', { name: 'year ↓2' }).waitFor()
    const ids = () => page.locator('tbody th').allInnerTexts()
    await page.reload()
    await page.getByRole('button', { name: 'genre ↑1' }).waitFor()
    check((await ids()).join() === 'f3,f2,f1,f4', 'comedy; crime of 2003 and of 1995; drama: ' + await ids())
  })
  for (const width of [390, 1440]) look(`a table breaks no words ${width}`, storiesBase + '/table', async (page) => {
    await page.locator('tbody tr').nth(3).waitFor()
    const tall = await page.locator('tbody td:nth-child(4), tbody th').evaluateAll((all) => all.filter((c) => { const r = document.createRange(); r.selectNodeContents(c); return r.getBoundingClientRect().height > 36 && !/\s/.test(c.textContent) }).map((c) => c.textContent))
    check(!tall.length, 'broken: ' + tall)
    const lenses = await page.locator('.lenses a').evaluateAll((all) => new Set(all.map((a) => Math.round(a.getBoundingClientRect().top))).size)
    check(lenses === 1, `the lenses are in ${lenses} lines`)
  }, { width })
  look('words, values and earlier searches are completed', storiesBase + '/', async (page) => {
    const field = page.getByLabel('Words to search for')
    await field.fill('hei')
    await page.locator('#completions option[value="heist"]').waitFor({ state: 'attached' })
    await field.fill('dra')
    await page.locator('#completions option[value="genre:drama"]').waitFor({ state: 'attached' })
    await field.fill('train')
    await page.waitForFunction(() => localStorage.getItem('collocate-searches')?.includes('"train"'))
    await field.fill('tr')
    await page.locator('#completions option[value="train"]').waitFor({ state: 'attached' })
  })
  look('a token that may only read, and a wrong one', guardedBase + '/', async (page) => {
    const dialog = page.getByRole('dialog', { name: 'requires a token' })
    await dialog.getByLabel('Token').fill('nonsense')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByText('The server does not know this token.').waitFor()
    await dialog.getByLabel('Token').fill('reads')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('link', { name: 'Table', exact: true }).waitFor() // the server has said what it has
    check((await page.getByRole('button', { name: '+ Add data' }).count()) === 0, 'nothing can be put in')
    await page.getByRole('link', { name: 'About' }).click()
    await page.getByRole('button', { name: 'Use another token' }).click()
    await dialog.getByLabel('Token').fill('writes')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: '+ Add data' }).waitFor()
  }, { quiet: false })
  look('an index is deleted', guardedBase + '/', async (page) => {
    page.on('dialog', (d) => d.accept())
    await page.getByRole('textbox', { name: 'Token' }).fill('writes')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    // Nothing of it can be added, so the index is not kept.
    await dialog.locator('input[type=file]').setInputFiles({ name: 'gone.csv', mimeType: 'text/csv', buffer: Buffer.from('id,name\n1,one\n') })
    await dialog.getByLabel('into').selectOption('')
    await page.route('**/v1/indexes/gone/documents*', (r) => r.fulfill({ status: 400, json: { error: 'it is wrong' } }))
    await dialog.getByRole('button', { name: 'Add 1 document' }).click()
    await dialog.getByRole('alert').getByText('it is wrong').waitFor()
    await page.unroute('**/v1/indexes/gone/documents*')
    await dialog.getByRole('button', { name: 'Add 1 document' }).click()
    await page.getByText('gone has 1 document').waitFor()
    await page.getByRole('link', { name: 'About' }).click()
    await page.getByRole('button', { name: 'Delete this index' }).click()
    await page.waitForFunction(() => !location.search.includes('gone'))
    await page.waitForFunction(() => ![...document.querySelectorAll('option')].some((o) => o.textContent === 'gone'))
  }, { quiet: false })
  look('the server comes back', storiesBase + '/?q=heist', async (page) => {
    await page.getByRole('alert').getByText('The server does not respond').waitFor()
    await page.unroute('**/v1/**')
    await page.getByText('The best 3 of 3').waitFor() // by itself
    check((await page.getByRole('alert').count()) === 0, 'no error is left')
  }, { quiet: false, before: (page) => page.route('**/v1/**', (r) => r.abort()) })
  look('no points, but files can be put in', freshBase + '/places', async (page) => {
    await page.getByText('Documents with positions are shown here').waitFor()
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Choose files' }).click()])
    check(!!chooser, 'the chooser of files opens at once')
  })
  look('a server without documents', freshBase + '/', async (page) => {
    await page.getByText('GeoJSON or text here, to make an index of it').waitFor()
    await page.getByRole('button', { name: 'Choose files' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    await dialog.locator('input[type=file]').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('One paragraph about whales.\n\nAnother about boats.\n') })
    await dialog.getByRole('button', { name: 'Add 2 documents' }).click()
    await page.getByText('note has 2 documents').waitFor()
    await page.getByLabel('Words to search for').fill('whale')
    await page.getByText('The best 1 of 1').waitFor()
  })
  look('a file that is no table', changingBase + '/', async (page) => {
    await page.getByRole('button', { name: '+ Add data' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add data' })
    await dialog.locator('input[type=file]').setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('{"a":') })
    await dialog.getByRole('alert').getByText(/x\.json: This is no JSON/).waitFor()
    await dialog.locator('input[type=file]').setInputFiles({ name: 'y.csv', mimeType: 'text/csv', buffer: Buffer.from([0x01, 0x00, 0xfe, 0x80]) })
    await dialog.getByRole('alert').getByText(/y\.csv: it is no text/).waitFor()
  })
  look('forced colours', stories + '/?q=heist', async (page) => { await page.getByText('The best 3 of 3').waitFor() }, {
    before: (page) => page.emulateMedia({ forcedColors: 'active' }),
  })
  look('a query of the language', filmsBase + '/?q=' + encodeURIComponent('heist -"on a train" #year:>=1990'), async (page) => {
    await page.getByText('The best 2 of 2').waitFor()
    await page.getByText('Why?').first().click()
    await page.locator('.tree code').first().waitFor()
  })
  look('an error of the language', filmsBase + '/?q=' + encodeURIComponent('heist AND ('), async (page) => {
    await page.getByRole('alert').getByText(/^Error in the query at column \d+: [^;]*\.$/).waitFor()
  }, { quiet: false })
  look('a word in its contexts', base + '/words?w=membrane', async (page) => {
    await page.getByRole('heading', { name: 'Dispersion' }).waitFor()
    await page.locator('svg.dispersion rect').nth(10).waitFor({ state: 'attached' })
    await page.getByRole('heading', { name: 'Similar words', exact: true }).waitFor()
    await page.getByRole('link', { name: 'psd', exact: true }).first().waitFor()
    await page.getByLabel('Measure').selectOption('mi')
    await page.waitForURL(/by=mi/)
  })
  look('a map of vectors', base + '/words?w=membrane', async (page) => {
    const map = page.getByRole('group', { name: /^Words similar to membrane on a plane/ })
    await map.locator('circle').nth(40).waitFor()
    const boxes = await map.locator('text').evaluateAll((list) => list.map((t) => t.getBoundingClientRect().toJSON()))
    const over = boxes.filter((a, i) => boxes.some((b, j) => j < i && Math.abs(a.x + a.width / 2 - b.x - b.width / 2) < (a.width + b.width) / 2 - 8 && Math.abs(a.y - b.y) < 8))
    check(over.length <= 2, `a map of vectors: ${over.length} labels lie on others`)
    const link = map.getByRole('link').nth(1)
    const to = (await link.getAttribute('aria-label')).split(',')[0]
    await link.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp('q=' + to))
    await page.getByRole('group', { name: new RegExp(`^Words similar to ${to} on a plane`) }).waitFor()
  })
  for (const width of [320, 1440]) {
    look(`two corpora ${width}`, base + '/words', async (page) => {
      await page.getByRole('textbox', { name: 'Documents for' }).fill('membrane')
      await page.getByLabel('compared with those for').fill('neurons')
      await page.getByRole('button', { name: 'Compare' }).click()
      await page.waitForURL(/here=membrane&there=neurons/)
      await page.getByRole('rowheader', { name: 'membran', exact: true }).last().waitFor()
      await page.getByRole('rowheader', { name: 'neuron', exact: true }).last().waitFor()
      await page.getByLabel('keyness').selectOption('g2')
      await page.getByRole('columnheader', { name: 'log-likelihood' }).first().waitFor()
    }, { width })
  }
  look('keywords of what was found', base + '/?q=membrane', async (page) => {
    await page.locator('article').first().waitFor()
    await page.getByRole('link', { name: 'Words', exact: true }).click()
    await page.getByRole('rowheader', { name: 'membran', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Collocates of membrane' }).click()
    await page.getByRole('rowheader', { name: 'plasma', exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Frequent words' }).click()
    await page.getByText(/in more than a third of the documents are hidden/).waitFor()
    await page.getByRole('button', { name: 'Show them' }).click()
    await page.getByRole('rowheader', { name: 'the', exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Sequences' }).click()
    await page.getByRole('link', { name: 'plasma membran', exact: true }).waitFor()
  })
  look('an unknown word', base + '/words?w=zzzz', async (page) => { await page.getByRole('alert').getByText(/zzzz/).first().waitFor() }, { quiet: false })
  look('common words', base + '/words', async (page) => { await page.locator('.cloud a').nth(10).waitFor() })
  look('two kinds by distance, the data', base + '/places', async (page) => {
    await page.locator('.pattern').first().waitFor()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText(/each other most at/).waitFor()
    await page.getByRole('img', { name: /^L minus distance/ }).locator('canvas').waitFor()
    await page.getByRole('button', { name: 'Describe the points' }).click()
    await page.getByText('Distances worth mining').waitFor()
    await page.getByRole('button', { name: /^Use / }).click()
    await page.waitForURL(/d=/)
  })
  look('patterns are tested in a study area', base + '/places?d=150&p=0.3', async (page) => {
    await page.locator('.pattern').first().waitFor()
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.area) > 0)
    const box = join(dir, 'box.geojson')
    const ring = (x0, y0, x1, y1) => [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]]
    writeFileSync(box, JSON.stringify({ type: 'Polygon', coordinates: [ring(-78, 38, -76, 40)] }))
    await page.getByLabel('Rounds', { exact: true }).fill('39')
    await page.getByLabel('Study area, a file of GeoJSON').setInputFiles(box)
    await page.getByText('The study area is box.geojson').waitFor()
    await page.getByRole('button', { name: 'Test the patterns' }).click()
    await page.getByText(/[1-9]\d* of \d+ sets are more often together within 150 m than 39 rounds of chance/).waitFor({ timeout: 120_000 })
    await page.getByText(/Null model: a density that all kinds share\. Study area [1-9][\d,]+ km²; (bandwidth [\d,.]+ m of the density that all kinds share|uniform density, as far as the kinds tell)\./).waitFor()
    const shares = await page.locator('section', { hasText: 'More than chance?' }).locator('tbody tr').first().locator('td').last().innerText()
    check(/^[\d,]+ of [\d,]+(, [\d,]+ of [\d,]+)+$/.test(shares), 'points that take part in a tested pattern: ' + shares)
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Patterns as CSV' }).click()])
    const head = readFileSync(await saved.path(), 'utf8').split('\n')[0]
    check(head.endsWith('"p_value","q_value","null","rounds","study_area","bandwidth"'), 'columns of the patterns: ' + head)
    // A study area that does not hold the places is an error, and nothing is shown as tested.
    const far = join(dir, 'far.geojson')
    writeFileSync(far, JSON.stringify({ type: 'Polygon', coordinates: [ring(0, 0, 1, 1)] }))
    await page.getByLabel('Study area, a file of GeoJSON').setInputFiles(far)
    await page.getByText('The study area is far.geojson').waitFor()
    await page.getByRole('button', { name: 'Test the patterns' }).click()
    await page.getByRole('alert').getByText(/outside/).waitFor()
    check((await page.getByText(/rounds of chance/).count()) === 0, 'no result of an area without the places')
  }, { quiet: false })
  look('zoom to a pattern, and what is there', base + '/places?d=150&p=0.3', async (page) => {
    await page.locator('.pattern').first().waitFor()
    await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) > 1000)
    const zoom = () => page.locator('.map').getAttribute('data-zoom').then(Number)
    const before = await zoom()
    await page.locator('.leaflet-control-zoom-in').click()
    await page.locator('.leaflet-control-zoom-in').click()
    await page.waitForFunction((z) => Number(document.querySelector('.map').dataset.zoom) > z, before)
    await page.locator('.pattern').first().click()
    await page.getByRole('button', { name: 'Zoom to it' }).click()
    await page.waitForFunction((z) => Number(document.querySelector('.map').dataset.zoom) < z, before + 2)
    // A grid of places on the screen meets some point.
    const box = await page.locator('.map').boundingBox()
    for (let i = 0; i < 400 && !(await page.locator('.tip').count()); i++) await page.mouse.move(box.x + box.width * (0.3 + (i % 20) / 50), box.y + box.height * (0.3 + Math.floor(i / 20) / 50))
    const tip = await page.locator('.tip').innerText()
    check(/^\w+\n3[89]\.\d+, -7[67]\.\d+$/.test(tip), 'a place under the pointer: ' + tip)
  })
  look('a pattern, quotients, distances', base + '/places?d=150&p=0.3', async (page) => {
    await page.locator('.pattern').first().click()
    await page.locator('.shares li').first().waitFor()
    await page.getByRole('button', { name: 'Show quotients' }).click()
    await page.getByText('Attract', { exact: true }).waitFor()
    await page.locator('section', { hasText: 'Attraction and avoidance' }).getByRole('cell', { name: /^\d[\d,]* of \d[\d,]*$/ }).first().waitFor()
    await page.getByRole('button', { name: 'Mine at other distances' }).click()
    await page.locator('.plot canvas').waitFor({ timeout: 60_000 })
    await page.getByLabel('Least participation index').fill('40')
    await page.waitForURL(/p=0.4/)
    await page.getByText(/--min-prevalence 0.4/).waitFor()
  })
  for (const width of [320, 1440]) {
    look(`density and quotients on the map ${width}`, base + '/places?d=150', async (page) => {
      await page.locator('.pattern').first().waitFor()
      await page.getByLabel('Map of', { exact: true }).selectOption('density')
      await page.waitForURL(/layer=density/)
      await page.waitForFunction(() => document.querySelector('.map')?.dataset.layer === 'density')
      await page.getByText('the strongest square').waitFor()
      await page.getByLabel('Map of', { exact: true }).selectOption('quotient')
      await page.getByLabel('Points of the kind').selectOption('cafe')
      await page.getByLabel('Neighbours of the kind').selectOption('restaurant')
      await page.getByText('Neighbours of the kind restaurant within 150 m of each cafe').waitFor()
      await page.waitForFunction(() => Number(document.querySelector('.map')?.dataset.drawn) > 300)
      check(/more, p ≤ 0.05: [1-9]/.test(await page.locator('.key').innerText()), 'some cafes have more restaurants around them')
      const command = await page.locator('.card pre').last().innerText()
      check(/places pairs .*--distance 150 --of cafe --near restaurant --permutations 99/.test(command), 'the command of the quotients: ' + command)
    }, { width })
  }
  look('the command gives what the page shows', base + '/places?d=150&p=0.3', async (page) => {
    await page.locator('.pattern').first().waitFor()
    const shown = (await page.locator('.pattern > span:first-child').allInnerTexts()).sort()
    const args = (await page.locator('.card pre').last().innerText()).trim().split(/\s+/).slice(1)
    const found = JSON.parse(execFileSync(command, [...args, '--json'], { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
    check(found.patterns.map((p) => p.features.join(' + ')).sort().join('|') === shown.join('|'), 'the same patterns')
  })
  await Promise.all(turns)
  await lookAt('first paint', base + '/', async (page) => {
    await page.getByText('3,675 documents with').waitFor()
    const [paint, bytes] = await page.evaluate(() => [
      performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity,
      [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce((n, e) => n + e.transferSize, 0),
    ])
    console.log(`  painted after ${Math.round(paint)} ms, ${bytes} bytes sent`)
    check(bytes < 120_000, `${bytes} bytes: more than 120 kB`)
  })
  look('several indexes', twoBase + '/?q=heist', async (page) => {
    await page.locator('article').first().waitFor()
    await page.getByLabel('Index').selectOption('odd ones')
    await page.getByText('odd ones has 3 documents').waitFor()
    await page.getByLabel('Words to search for').fill('boat')
    await page.waitForURL(/q=boat/)
    await page.getByText('The best 3 of 3').waitFor()
    check(/[?&]index=odd(\+|%20)ones/.test(page.url()) && /q=boat/.test(page.url()), 'the address names the index: ' + page.url())
    await page.getByRole('link', { name: 'About' }).click()
    await page.getByText('odd ones', { exact: true }).last().waitFor()
  })
  look('no index', noneBase + '/', async (page) => {
    await page.getByText('This server has no documents to search').waitFor()
    await page.getByRole('link', { name: 'Map', exact: true }).click()
    await page.locator('.pattern').first().waitFor()
  })
  look('no matrix', bareBase + '/words', async (page) => { await page.getByRole('rowheader', { name: 'cells', exact: true }).or(page.getByRole('rowheader', { name: 'cell', exact: true })).first().waitFor() })
  look('dispersion without a matrix', bareBase + '/words?q=membrane', async (page) => {
    await page.getByRole('heading', { name: 'Dispersion' }).waitFor()
    await page.getByText(/times in \d+ documents/).waitFor()
  })
  look('words of a root', rootBase + '/words', async (page) => { await page.getByText('This server has no co-occurrence matrix').waitFor() })
  look('no places', bareBase + '/places', async (page) => { await page.getByText('This server has no points').waitFor() })
  await Promise.all(turns)
} catch (e) {
  check(false, e.stack)
} finally {
  await browser?.close()
  proxy?.stop()
  bare?.stop()
  meant?.stop()
  planar?.stop()
  guarded?.stop()
  encoded?.stop()
  encoder?.close()
  meantShard?.stop()
  meantRoot?.stop()
  films?.stop()
  stories_?.stop()
  changing?.stop()
  fresh?.stop()
  odd?.stop()
  two?.stop()
  none?.stop()
  root?.stop()
  shard?.stop()
  full.stop()
  rmSync(dir, { recursive: true, force: true })
}
console.log(failures ? `${failures} failed` : `all passed: ${tests} tests`)
process.exit(failures ? 1 : 0)
