import fengari from 'fengari';
import type { Stored } from '../packing.ts';
import { textOf } from '../script-host.ts';
import { loadScripts, type ScriptName } from '../scripts.ts';

const { lua, lauxlib, lualib } = fengari;
type LuaState = Parameters<typeof lua.lua_gettop>[0];

/** What a command answers to a script, in the forms Redis has: text is bytes on both sides. */
export type CommandReply = Uint8Array | number | null | readonly CommandReply[];
export type CallCommand = (command: string, args: readonly Buffer[]) => CommandReply;

/** A command for another kind of value than the one under its key. */
export class WrongType extends Error {}

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');
/** Without a copy: Lua strings never change. */
const asBuffer = (value: Uint8Array): Buffer => Buffer.from(value.buffer, value.byteOffset, value.byteLength);

/** A Lua VM with `redis.call`, which runs the ledger's scripts as Redis would. */
export class LuaScripts {
  readonly #state: LuaState = lauxlib.luaL_newstate();
  readonly #functions = new Map<ScriptName, number>();
  readonly #call: CallCommand;
  /** A JavaScript error cannot cross the VM: it is kept here until the script is over. */
  #failure: unknown;

  constructor(call: CallCommand) {
    this.#call = call;
    lualib.luaL_openlibs(this.#state);
    lua.lua_createtable(this.#state, 0, 2);
    lua.lua_pushcfunction(this.#state, (state) => this.#redisCall(state));
    lua.lua_setfield(this.#state, -2, bytes('call'));
    lua.lua_pushcfunction(this.#state, (state) => this.#redisCall(state, true));
    lua.lua_setfield(this.#state, -2, bytes('pcall'));
    lua.lua_setglobal(this.#state, bytes('redis'));
    for (const { name, text } of loadScripts().values()) this.#compile(name, text);
  }

  /** Throws what a command threw, or an `Error` with the words of the VM. */
  run(script: ScriptName, keys: readonly string[], args: readonly Stored[]): unknown {
    const state = this.#state;
    this.#failure = undefined;
    lua.lua_settop(state, 0);
    this.#setList('KEYS', keys);
    this.#setList('ARGV', args);
    lua.lua_rawgeti(state, lua.LUA_REGISTRYINDEX, this.#functions.get(script) ?? 0);
    if (lua.lua_pcall(state, 0, 1, 0) !== lua.LUA_OK) {
      throw this.#failure ?? new Error(`the script ${script} failed: ${String(this.#toReply(-1))}`);
    }
    return this.#toReply(-1);
  }

  #compile(name: ScriptName, text: string): void {
    // Redis takes the first line for itself, as Lua does only with files.
    const body = bytes(text.replace(/^#!.*/, ''));
    if (lauxlib.luaL_loadbuffer(this.#state, body, body.length, bytes(`@${name}.lua`)) !== lua.LUA_OK) {
      throw new Error(`the script ${name} is no Lua: ${String(this.#toReply(-1))}`);
    }
    this.#functions.set(name, lauxlib.luaL_ref(this.#state, lua.LUA_REGISTRYINDEX));
  }

  #setList(name: string, items: readonly Stored[]): void {
    lua.lua_createtable(this.#state, items.length, 0);
    items.forEach((item, i) => {
      lua.lua_pushstring(this.#state, typeof item === 'string' ? bytes(item) : item);
      lua.lua_rawseti(this.#state, -2, i + 1);
    });
    lua.lua_setglobal(this.#state, bytes(name));
  }

  #redisCall(state: LuaState, isProtected = false): number {
    try {
      const [command, ...args] = Array.from({ length: lua.lua_gettop(state) }, (_, i) => {
        const argument = lua.lua_tolstring(state, i + 1);
        if (argument === null) throw new TypeError('the arguments of redis.call must be strings or numbers');
        return asBuffer(argument);
      });
      push(state, this.#call(String(command), args));
      return 1;
    } catch (error) {
      if (isProtected && error instanceof WrongType) {
        lua.lua_createtable(state, 0, 1);
        lua.lua_pushstring(state, bytes(error.message));
        lua.lua_setfield(state, -2, bytes('err'));
        return 1;
      }
      this.#failure = error;
      lua.lua_pushstring(state, bytes(String(error)));
    }
    return lua.lua_error(state);
  }

  /** As Redis converts: `false` is nil, numbers lose their fraction, a list ends at its first nil. */
  #toReply(index: number): unknown {
    const state = this.#state;
    switch (lua.lua_type(state, index)) {
      case lua.LUA_TSTRING:
        return textOf(asBuffer(lua.lua_tolstring(state, index) as Uint8Array));
      case lua.LUA_TNUMBER:
        return Math.trunc(lua.lua_tonumber(state, index));
      case lua.LUA_TBOOLEAN:
        return lua.lua_toboolean(state, index) ? 1 : null;
      case lua.LUA_TTABLE: {
        const list: unknown[] = [];
        while (lua.lua_rawgeti(state, index, list.length + 1) !== lua.LUA_TNIL) {
          list.push(this.#toReply(-1));
          lua.lua_pop(state, 1);
        }
        lua.lua_pop(state, 1);
        return list;
      }
      default:
        return null;
    }
  }
}

function push(state: LuaState, reply: CommandReply): void {
  if (reply === null) lua.lua_pushboolean(state, false);
  else if (typeof reply === 'number') lua.lua_pushinteger(state, reply);
  else if (reply instanceof Uint8Array) lua.lua_pushstring(state, reply);
  else {
    lua.lua_createtable(state, reply.length, 0);
    reply.forEach((item, i) => {
      push(state, item);
      lua.lua_rawseti(state, -2, i + 1);
    });
  }
}
