/** What part of a picture is seen: dragging, pinching, zooming, and showing all of it. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type PointerEvent } from "react";

export interface View {
  scale: number;
  x: number;
  y: number;
}

export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

const LARGEST = 1.6;
const READABLE = 0.8;

/** `target` is in sight whenever the view is not in somebody's hands; `beginning` is, when there is not room for all. */
export function useView(picture: { width: number; height: number }, beginning: Rect | undefined, target: Rect | undefined) {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ scale: 1, x: 0, y: 0 });
  const isTouched = useRef(false);
  const size = () => frame.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 800, 400);

  const smallest = () => Math.min(0.5, size().width / picture.width, size().height / picture.height);
  const clamp = (scale: number) => Math.min(LARGEST, Math.max(smallest(), scale));

  const zoom = useCallback(
    (factor: number, at?: { x: number; y: number }) => {
      isTouched.current = true;
      const box = size();
      const point = at ?? { x: box.width / 2, y: box.height / 2 };
      setView((old) => {
        const scale = clamp(old.scale * factor);
        const ratio = scale / old.scale;
        return { scale, x: point.x - (point.x - old.x) * ratio, y: point.y - (point.y - old.y) * ratio };
      });
    },
    [picture],
  );

  /** All of it; a graph that would be unreadable then shows its beginning instead, unless all of it was asked for. */
  const fit = useCallback(
    (everything: boolean) => {
      if (picture.width === 0) return;
      frame.current?.style.setProperty("--drawn", `${heightOf(picture, size().width)}px`);
      const { width, height } = size();
      const whole = Math.min(1, width / picture.width, height / picture.height);
      const scale = everything ? whole : Math.max(whole, READABLE);
      const placed = (room: number, length: number, from: number, size: number) => {
        const spare = room - length * scale;
        return spare >= 0 ? spare / 2 : Math.min(0, Math.max(spare, room / 2 - (from + size / 2) * scale));
      };
      const first = beginning ?? { x: 0, y: 0, width: 0, height: 0 };
      setView({ scale, x: placed(width, picture.width, first.x, first.width), y: placed(height, picture.height, first.y, first.height) });
    },
    [picture],
  );

  const reveal = useCallback((place: Rect) => {
    const { width, height } = size();
    setView((old) => {
      const left = place.x * old.scale + old.x;
      const top = place.y * old.scale + old.y;
      const seen = left >= 0 && top >= 0 && left + place.width * old.scale <= width && top + place.height * old.scale <= height;
      if (seen) return old;
      const scale = Math.max(old.scale, READABLE);
      return {
        scale,
        x: width / 2 - (place.x + place.width / 2) * scale,
        y: height / 2 - (place.y + place.height / 2) * scale,
      };
    });
  }, []);

  const settle = () => {
    if (!isTouched.current) fit(false);
    if (target !== undefined) reveal(target);
  };
  const latest = useRef(settle);
  latest.current = settle;
  useLayoutEffect(() => latest.current(), [picture, target?.x, target?.y]);
  useEffect(() => {
    const observer = new ResizeObserver(() => latest.current());
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);

  useWheel(frame, zoom, (dx, dy) => {
    isTouched.current = true;
    setView((old) => ({ ...old, x: old.x - dx, y: old.y - dy }));
  });
  const pointers = usePointers(frame, zoom, (dx, dy) => {
    isTouched.current = true;
    setView((old) => ({ ...old, x: old.x + dx, y: old.y + dy }));
  });
  return { frame, view, zoom, fit, reveal, pointers, hidden: hiddenSides(view, picture, frame.current) };
}

/** On which sides the picture goes on. */
function hiddenSides(view: View, picture: { width: number; height: number }, frame: HTMLDivElement | null): string {
  if (frame === null) return "";
  const slack = 14 * view.scale; // the margin of a picture is no loss
  const sides: [string, boolean][] = [
    ["left", view.x < -slack],
    ["right", view.x + picture.width * view.scale > frame.clientWidth + slack],
    ["above", view.y < -slack],
    ["below", view.y + picture.height * view.scale > frame.clientHeight + slack],
  ];
  return sides.flatMap(([side, isHidden]) => (isHidden ? [side] : [])).join(" ");
}

/** How high the picture is when its width fits, as far as that is readable: the frame needs no more room. */
function heightOf(picture: { width: number; height: number }, width: number): number {
  return Math.ceil(picture.height * Math.min(1, Math.max(READABLE, width / picture.width)));
}

type Zoom = (factor: number, at?: { x: number; y: number }) => void;
type Move = (dx: number, dy: number) => void;
type Frame = React.RefObject<HTMLDivElement | null>;

/** The wheel scrolls the page, as everywhere; with Ctrl or ⌘ (and a pinched touchpad) it zooms, with Shift it moves sideways. */
function useWheel(frame: Frame, zoom: Zoom, move: Move): void {
  useEffect(() => {
    const element = frame.current!;
    const turn = (event: WheelEvent) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const box = element.getBoundingClientRect();
        zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - box.x, y: event.clientY - box.y });
      } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        move(event.deltaX, 0);
      }
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  });
}

/** One pointer drags, two pinch. A drag that begins on an operator is a click until it has moved. */
function usePointers(frame: Frame, zoom: Zoom, move: Move) {
  const down = useRef(new Map<number, { x: number; y: number }>());
  const moved = useRef(0);
  return {
    onPointerDown: (event: PointerEvent) => {
      down.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved.current = 0;
    },
    onPointerMove: (event: PointerEvent) => {
      const old = down.current.get(event.pointerId);
      if (old === undefined) return;
      const now = { x: event.clientX, y: event.clientY };
      moved.current += Math.hypot(now.x - old.x, now.y - old.y);
      if (moved.current < 4) return;
      if (!frame.current!.hasPointerCapture(event.pointerId)) frame.current!.setPointerCapture(event.pointerId);
      const other = [...down.current].find(([id]) => id !== event.pointerId)?.[1];
      if (other !== undefined) {
        const distance = (point: { x: number; y: number }) => Math.hypot(point.x - other.x, point.y - other.y);
        const box = frame.current!.getBoundingClientRect();
        zoom(distance(now) / Math.max(1, distance(old)), { x: (now.x + other.x) / 2 - box.x, y: (now.y + other.y) / 2 - box.y });
      } else move(now.x - old.x, now.y - old.y);
      down.current.set(event.pointerId, now);
    },
    onPointerUp: (event: PointerEvent) => void down.current.delete(event.pointerId),
    onPointerCancel: (event: PointerEvent) => void down.current.delete(event.pointerId),
    onClickCapture: (event: { stopPropagation: () => void }) => moved.current >= 4 && event.stopPropagation(),
  };
}
