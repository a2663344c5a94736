/** The part of fengari (a Lua 5.3 VM in JavaScript, without types of its own) that `lua.ts` uses. */
declare module 'fengari' {
  interface LuaState {
    readonly _luaState: unique symbol;
  }
  type LuaBytes = Uint8Array;

  const fengari: {
    readonly lua: {
      readonly LUA_OK: number;
      readonly LUA_REGISTRYINDEX: number;
      readonly LUA_TNIL: number;
      readonly LUA_TBOOLEAN: number;
      readonly LUA_TNUMBER: number;
      readonly LUA_TSTRING: number;
      readonly LUA_TTABLE: number;
      lua_createtable(L: LuaState, arrayItems: number, fields: number): void;
      lua_error(L: LuaState): number;
      lua_gettop(L: LuaState): number;
      lua_pcall(L: LuaState, args: number, results: number, handler: number): number;
      lua_pop(L: LuaState, count: number): void;
      lua_pushboolean(L: LuaState, value: boolean): void;
      lua_pushcfunction(L: LuaState, call: (L: LuaState) => number): void;
      lua_pushinteger(L: LuaState, value: number): void;
      lua_pushstring(L: LuaState, value: LuaBytes): void;
      lua_rawgeti(L: LuaState, index: number, key: number): number;
      lua_rawseti(L: LuaState, index: number, key: number): void;
      lua_setfield(L: LuaState, index: number, key: LuaBytes): void;
      lua_setglobal(L: LuaState, name: LuaBytes): void;
      lua_settop(L: LuaState, index: number): void;
      lua_toboolean(L: LuaState, index: number): boolean;
      lua_tolstring(L: LuaState, index: number): LuaBytes | null;
      lua_tonumber(L: LuaState, index: number): number;
      lua_type(L: LuaState, index: number): number;
    };
    readonly lauxlib: {
      luaL_loadbuffer(L: LuaState, code: LuaBytes, size: number | null, name: LuaBytes): number;
      luaL_newstate(): LuaState;
      luaL_ref(L: LuaState, table: number): number;
    };
    readonly lualib: {
      luaL_openlibs(L: LuaState): void;
    };
  };
  export default fengari;
}
