/** What this process sends to Redis, by name: commands as they are, scripts by theirs. */
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';

export class Sent {
  readonly counts = new Map<string, number>();
  readonly #names = new Map<string, string>();

  constructor() {
    const { counts } = this;
    const names = this.#names;
    const send = Redis.prototype.sendCommand;
    const define = Redis.prototype.defineCommand;
    Redis.prototype.defineCommand = function (name, definition) {
      names.set(createHash('sha1').update(definition.lua).digest('hex'), name);
      return define.call(this, name, definition);
    };
    Redis.prototype.sendCommand = function (command, stream) {
      const script = command.name === 'evalsha' ? names.get(String(command.args[0])) : undefined;
      const name = script ?? command.name;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return send.call(this, command, stream);
    };
  }

  reset(): void {
    this.counts.clear();
  }
}
