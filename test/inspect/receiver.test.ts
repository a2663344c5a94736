/** The receiving end of the Stately inspector's protocol: real programs send with @statelyai/inspect, over real sockets. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFrame } from '../../visualizer/receiver/frame.ts';
import { Received } from '../../visualizer/receiver/received.ts';
import { Command, toolop } from '../cli/command.ts';
import { actorsOf, frames, seenBy, shown, useReceiver } from './stage.ts';

const stage = useReceiver();

describe('programs of anybody', { timeout: 60_000 }, () => {
  it('are shown with their actors, each under who made it, with machines, states and steps', async () => {
    const receiver = await stage.receiver();
    const app = stage.app(receiver.socket, 'of the first');
    const rows = await shown(receiver, (view) => {
      const found = actorsOf(view);
      return found.some(({ state }) => state.includes('payment.owed')) && found.length === 3 && found;
    });
    const [order, price, clock] = rows;
    expect(order).toMatchObject({
      name: 'order',
      parent: null,
      status: 'active',
      state: expect.stringContaining('delivery.waiting'),
    });
    expect(price).toMatchObject({ name: 'price', parent: order?.actor, status: 'done', state: '' });
    expect(clock).toMatchObject({ name: 'clock', parent: order?.actor, status: 'active' });

    for (const event of ['PAY', 'SEND', 'MOVE']) app.event(event);
    const view = await shown(receiver, ({ actor }) => actor?.state.includes('travelling') && actor, order?.actor);
    const lit = new Set(view.lit);
    const names: string[] = [];
    const walk = (state: NonNullable<typeof view.definition>) => {
      if (lit.has(state.at)) names.push(state.key);
      for (const inner of state.states) walk(inner);
    };
    if (view.definition) walk(view.definition);
    expect(names.sort()).toEqual(['delivery', 'open', 'order', 'paid', 'payment', 'travelling', 'underway']);
    expect(view.context).toContain('of the first');
    expect(view.log.map(({ event }) => event)).toEqual(expect.arrayContaining(['xstate.init', 'PAY', 'SEND', 'MOVE']));
    expect(view.log.find(({ event }) => event === 'PAY')).toMatchObject({
      state: expect.stringContaining('paid'),
      changed: true,
    });
    const promise = await seenBy(receiver, price?.actor);
    expect(promise.actor).toMatchObject({ definition: null, missing: null, output: expect.stringContaining('4200') });
    await app.end();
  });

  it('may be several, with the same ids of actors, and what one left stays, and that it left is said', async () => {
    const receiver = await stage.receiver();
    const [one, other] = [stage.app(receiver.socket, 'one'), stage.app(receiver.socket, 'other')];
    await shown(receiver, (view) => actorsOf(view).filter(({ state }) => state.includes('owed')).length === 2);
    one.event('PAY');
    const states = await shown(receiver, (view) => {
      const roots = actorsOf(view).filter(({ name }) => name === 'order');
      return roots.some(({ state }) => state.includes('paid')) && roots.map(({ state }) => state);
    });
    expect(states.filter((state) => state.includes('paid'))).toHaveLength(1);
    await one.end();
    const { programs } = await shown(receiver, (view) => view.programs.some(({ until }) => until !== null) && view);
    expect(programs.map(({ until }) => until === null).sort()).toEqual([false, true]);
    expect(programs.every(({ actors }) => actors.length === 3)).toBe(true);
    const left = programs.find(({ until }) => until !== null)?.actors[0];
    expect((await seenBy(receiver, left?.actor)).actor).toMatchObject({
      connected: false,
      state: expect.stringContaining('paid'),
    });
    await other.end();
  });

  it('may begin before there is a receiver', async () => {
    const first = await stage.receiver();
    await first.close();
    const app = stage.app(first.socket);
    app.event('PAY');
    // The sender of the inspector tries again after five seconds.
    const late = new Command(['inspect', '--port', new URL(first.socket).port, '--json']);
    const line = await late.line(({ type }) => type === 'inspect');
    const receiver = { ...first, url: String(line.url) };
    await shown(receiver, (view) => actorsOf(view).some(({ state }) => state.includes('payment.paid')));
    late.signal('SIGTERM');
    expect((await late.end()).code).toBe(0);
    await app.end();
  });
});

describe('what no honest program sends', { timeout: 60_000 }, () => {
  it('is refused frame by frame, said, and the frames around it are taken', async () => {
    const receiver = await stage.receiver();
    const sender = await stage.connect(receiver.socket);
    sender.send(frames.actor('x:0', { name: 'before' }));
    const bad = [
      'no JSON',
      '[]',
      'null',
      JSON.stringify({ type: '@xstate.unheard', sessionId: 'x:0' }),
      JSON.stringify({ type: '@xstate.event', event: { type: 'GO' } }),
      frames.event('y'.repeat(600), { type: 'GO' }),
      frames.event('x:0', { type: 7 }),
      frames.snapshot('x:0', [] as object),
      frames.actor('x:9', { definition: { id: 'no text' } }),
    ];
    for (const frame of bad) sender.send(frame);
    sender.send(Buffer.from([1, 2, 3]));
    sender.send(frames.snapshot('x:0', { status: 'active', context: 'c'.repeat(1024 ** 2) }));
    sender.send(frames.actor('x:1', { name: 'after', parentId: 'x:0' }));
    const { programs } = await shown(receiver, (view) => actorsOf(view).some(({ name }) => name === 'after') && view);
    expect(programs[0]?.refused).toMatchObject({
      count: bad.length + 2,
      last: expect.stringContaining('at most 1048576'),
    });
    expect(programs[0]?.actors.map(({ name }) => name)).toEqual(['before', 'after']);
    expect(sender.readyState).toBe(sender.OPEN);
  });

  it('so deep that it cannot be walked, it is refused, too', async () => {
    const receiver = await stage.receiver();
    const sender = await stage.connect(receiver.socket);
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const whole = frames.snapshot('x:0', { status: 'active', context: 'HERE' });
    sender.send(whole.replace('"HERE"', deep));
    sender.send(
      frames.actor('x:1', {
        definition: `{"states":{"a":${'{"states":{"a":'.repeat(20_000)}1${'}}'.repeat(20_000)}}}`,
      }),
    );
    sender.send(frames.actor('x:2', { name: 'after' }));
    const view = await shown(receiver, (seen) => actorsOf(seen).some(({ name }) => name === 'after') && seen);
    expect(view.programs[0]?.refused?.count).toBe(1);
    const [, cut] = actorsOf(view);
    expect((await seenBy(receiver, cut?.actor)).actor?.definition).not.toBeNull();
  });

  it('a frame that is too large to be read ends its own connection, and no other', async () => {
    const receiver = await stage.receiver();
    const [flood, other] = [await stage.connect(receiver.socket), await stage.connect(receiver.socket)];
    flood.on('error', () => undefined);
    flood.send('x'.repeat(9 * 1024 ** 2));
    await once(flood, 'close');
    other.send(frames.actor('x:0', { name: 'still here' }));
    const view = await shown(receiver, (seen) => actorsOf(seen).length === 1 && seen);
    expect(view.programs[0]).toMatchObject({
      until: expect.any(Number),
      refused: { count: 1, last: expect.stringContaining('ended') },
    });
  });

  it('a frame of any shape is taken or refused with words, and what is kept can be sent', () => {
    const received = new Received();
    const sender = received.join(null);
    const type = fc.constantFrom('@xstate.actor', '@xstate.event', '@xstate.snapshot', 'other');
    const part = fc.oneof(fc.jsonValue(), fc.constant('x:0'), fc.json());
    const frame = fc.record(
      {
        type,
        sessionId: part,
        parentId: part,
        name: part,
        definition: part,
        snapshot: part,
        event: fc.oneof(part, fc.record({ type: fc.string() })),
      },
      { requiredKeys: ['type'] },
    );
    let taken = 0;
    fc.assert(
      fc.property(frame, (given) => {
        const text = JSON.stringify(given);
        const read = readFrame(text, text.length);
        if ('problem' in read) {
          expect(read.problem).not.toBe('');
          return;
        }
        taken += 1;
        received.take(sender, read.frame);
        const [{ actors } = { actors: [] }] = received.view(null).programs;
        for (const { actor } of actors) JSON.stringify(received.view(actor));
      }),
      { numRuns: 500 },
    );
    expect(taken).toBeGreaterThan(5);
  });
});

describe('memory', { timeout: 60_000 }, () => {
  it('holds so many actors and so many steps of each; those that are over give way first, and it is said', async () => {
    const receiver = await stage.receiver({ actors: 5 });
    const sender = await stage.connect(receiver.socket);
    sender.send(frames.actor('root'));
    sender.send(frames.actor('quiet', { parentId: 'root' }));
    for (let count = 0; count < 40; count += 1) {
      sender.send(frames.actor(`child:${count}`, { parentId: 'root' }));
      sender.send(frames.snapshot(`child:${count}`, { status: 'done' }));
    }
    for (let count = 0; count < 300; count += 1) sender.send(frames.event('root', { type: `E${count}` }));
    const view = await shown(receiver, (seen) => seen.actor?.log.at(-1)?.event === 'E299' && seen, 1);
    expect(actorsOf(view).map(({ name }) => name)).toEqual(['root', 'quiet', 'child:37', 'child:38', 'child:39']);
    expect(view.droppedActors).toBe(37);
    expect(view.actor?.log).toHaveLength(view.limits.steps);
    expect(view.actor?.log[0]?.event).toBe('E100');
    expect(view.actor?.dropped).toBe(100);
  });

  it('holds so much of one machine, and says that there is more', () => {
    const received = new Received();
    const named = (count: number, what: unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, what]));
    const text = frames.actor('wide', {
      definition: JSON.stringify({ on: named(5_000, 'n0'), states: named(5_000, {}) }),
    });
    const read = readFrame(text, text.length);
    if ('frame' in read) received.take(received.join(null), read.frame);
    const machine = received.view(1).actor?.definition;
    expect(machine?.states.length).toBeLessThanOrEqual(2_000);
    expect(machine?.transitions.length).toBeLessThanOrEqual(200);
    expect(machine?.notes).toEqual(['more states than are drawn', 'more transitions than are drawn']);
  });

  it('holds so many bytes, whatever is sent', () => {
    const bytes = 2 * 1024 ** 2;
    const received = new Received({ bytes });
    const sender = received.join(null);
    for (let count = 0; count < 200; count += 1) {
      const text = frames.snapshot(`x:${count}`, { status: 'active', context: { words: 'w'.repeat(900_000) } });
      const read = readFrame(text, text.length);
      if ('frame' in read) received.take(sender, read.frame);
    }
    const { programs, droppedActors } = received.view(null);
    const kept = programs
      .flatMap(({ actors }) => actors)
      .map(({ actor }) => received.view(actor).actor?.context?.length ?? 0);
    expect(kept.length + droppedActors).toBe(200);
    expect(kept.length).toBeGreaterThan(2);
    expect(2 * kept.reduce((sum, length) => sum + length, 0)).toBeLessThan(bytes);
  });

  it('of programs that have left, too', () => {
    const received = new Received({ programs: 3 });
    const stays = received.join(null);
    for (let count = 0; count < 10; count += 1) received.leave(received.join(null));
    const view = received.view(null);
    expect(view.programs.map(({ program }) => program)).toEqual([stays.program, 10, 11]);
    expect(view.droppedPrograms).toBe(8);
  });
});

describe('who is let in', { timeout: 60_000 }, () => {
  it('programs of this machine, and pages that it served: nobody else may send', async () => {
    const { socket } = await stage.receiver();
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:3000', 'https://localhost']) {
      await stage.connect(socket, { origin });
    }
    for (const origin of [
      'https://attacker.example',
      'http://localhost.attacker.example',
      'null',
      'file://',
      'localhost',
    ]) {
      await expect(stage.connect(socket, { origin }), origin).rejects.toThrow('403');
    }
    await expect(stage.connect(socket, { headers: { host: 'attacker.example' } })).rejects.toThrow('403');
    await expect(stage.connect(`${socket}/elsewhere`)).rejects.toThrow('404');
  });

  it('so many at once', async () => {
    const { socket } = await stage.receiver();
    const senders = [];
    for (let count = 0; count < 32; count += 1) senders.push(await stage.connect(socket));
    await expect(stage.connect(socket)).rejects.toThrow('503');
    senders[0]?.close();
    await expect
      .poll(() =>
        stage.connect(socket).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  it('the page is for who has its token: what programs know does not lead to it', async () => {
    const { url, socket } = await stage.receiver();
    const bare = socket.replace('ws:', 'http:');
    for (const path of ['/', '/api/received', '/wrong/api/received'])
      expect((await fetch(`${bare}${path}`)).status).toBe(403);
    expect((await fetch(`${url}api/received`, { headers: { origin: 'https://attacker.example' } })).status).toBe(403);
    const page = await fetch(url);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await fetch(url, { method: 'POST' })).status).toBe(403);
  });
});

describe('toolop inspect', { timeout: 60_000 }, () => {
  it('says where the page is and where programs send, who comes and goes, and ends on Ctrl-C with 0', async () => {
    const command = new Command(['inspect', '--port', '0']);
    await expect.poll(() => command.stderr, { timeout: 20_000 }).toContain('Ctrl-C ends it');
    const [, socket = ''] =
      /createWebSocketInspector\(\{ url: '(ws:\/\/127\.0\.0\.1:\d+)' \}\)/.exec(command.stderr) ?? [];
    expect((await fetch(command.stdout.trim())).status).toBe(200);
    const app = stage.app(socket);
    await expect.poll(() => command.stderr, { timeout: 20_000 }).toContain('program 1 has connected');
    command.signal('SIGINT');
    expect(await command.end()).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('program 1 has disconnected'),
    });
    await app.end();
  });

  it('a port in use is one line, with the next step', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { readonly port: number };
    const { code, stderr } = await toolop(['inspect', '--port', String(port)]);
    taken.close();
    expect(code).toBe(2);
    expect(stderr).toContain(`toolop: port ${port} is in use\n  next: `);
  });
});
